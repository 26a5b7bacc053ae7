package import HTTPServer
package import PushContract
package import ServiceKit

/// The body of `POST /sends`: one send, or an array of them.
package struct SendBatch: Sendable {
    /// An element: a request, or why it is none.
    package enum Element: Sendable {
        case request(SendRequest)
        case refused(sendId: String?, Problem)
    }

    package var elements: [Element]
    var isArray: Bool

    /// Throws for the body as a whole: empty, or too many elements.
    package init(_ value: JSONValue, limit: Int, now: Timestamp) throws(Problem) {
        guard case .array(let values) = value else {
            isArray = false
            elements = [.request(try SendBatch.request(value, at: "", now: now))]
            return
        }
        guard !values.isEmpty else { throw .invalid("The array is empty. Send at least one send.", code: "empty_batch", pointer: "") }
        guard values.count <= limit else {
            throw .invalid(
                "The array has \(values.count) elements. Send at most \(limit) in one request.",
                code: "too_many_items",
                pointer: ""
            )
        }
        isArray = true
        elements = values.enumerated().map { index, value in
            do throws(Problem) {
                return .request(try SendBatch.request(value, at: "/\(index)", now: now))
            } catch {
                return .refused(sendId: SendBatch.sendId(of: value), error)
            }
        }
    }

    private static func request(_ value: JSONValue, at pointer: String, now: Timestamp) throws(Problem) -> SendRequest {
        guard !value.hasInfinity else {
            throw .invalid("A number in it is out of the range of a double, -1.8E308 to 1.8E308.", pointer: pointer)
        }
        return try SendRequest(value, at: pointer, now: now)
    }

    private static func sendId(of value: JSONValue) -> String? {
        guard case .object(let members) = value, case .string(let sendId)? = members["sendId"] else { return nil }
        return String(sendId.prefix(200))
    }
}
