package import ServiceKit

extension JSONParser {
    /// The value of a request body; a 400 `Problem` says where and what is wrong.
    package static func parse(_ bytes: [UInt8], keepsInfinity: Bool = false) throws(Problem) -> JSONValue {
        do {
            return try read(bytes, keepsInfinity: keepsInfinity)
        } catch {
            throw .malformedJSON("The body is not acceptable JSON: at byte \(error.byte), \(error.what).")
        }
    }
}
