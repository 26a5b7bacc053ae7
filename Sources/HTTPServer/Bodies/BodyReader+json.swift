package import Hummingbird
package import ServiceKit

extension BodyReader {
    /// As `read`, of a body of JSON. Its tree of values takes too much to stay while a request waits for the database: `convert` makes of
    /// it what is needed.
    package func readJSON<Value: Sendable, Output>(
        _ request: Request,
        keepsInfinity: Bool = false,
        convert: @escaping @Sendable (JSONValue) throws(Problem) -> Value,
        use: (Value) async throws -> Output
    ) async throws -> Output {
        // Twice its bytes: a list of short strings, which are 16 bytes each.
        try await read(request, parsedSize: 2) { [limits] bytes in
            if bytes.count > LargeBodyQueue.threshold, JSONParser.mostValues(in: bytes) > limits.values {
                throw Problem.tooManyValues(limit: limits.values)
            }
            return try convert(try JSONParser.parse(bytes, keepsInfinity: keepsInfinity))
        } use: { value in
            try await use(value)
        }
    }
}

extension JSONParser {
    /// At least as many as the text has values: the first follows nothing, any other one of these characters, each but once.
    fileprivate static func mostValues(in text: [UInt8]) -> Int {
        1 + text.count { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "{") }
    }
}
