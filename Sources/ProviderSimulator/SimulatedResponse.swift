/// What the simulator says to one request.
package struct SimulatedResponse: Sendable, Hashable {
    package var status: Int
    /// The provider's own word for a refusal, for counting and for the request log; nil when accepted.
    package var reason: String?
    package var headers: [Header]
    package var body: [UInt8]
    /// A fault rule gave this answer, not a check.
    var isFault = false

    package init(status: Int, reason: String? = nil, headers: [Header] = [], body: [UInt8] = []) {
        self.status = status
        self.reason = reason
        self.headers = headers
        self.body = body
    }

    /// A header field; names are lower case.
    package struct Header: Sendable, Hashable, Codable {
        package var name: String
        package var value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// `200`, or `410 Unregistered`: the key under which answers are counted.
    package var label: String {
        reason.map { "\(status) \($0)" } ?? "\(status)"
    }

    /// The page a load balancer in front of the provider gives when the provider itself does not answer.
    static func html(status: Int) -> SimulatedResponse {
        let text =
            "<!DOCTYPE html>\n<html><head><title>Error \(status)</title></head>"
            + "<body><h1>Error \(status)</h1><p>The server encountered a temporary error.</p></body></html>\n"
        return SimulatedResponse(
            status: status,
            reason: "html",
            headers: [Header("content-type", "text/html; charset=UTF-8")],
            body: Array(text.utf8)
        )
    }
}
