import CommandLineKit
import Foundation
import HTTPClient

/// The demo's way to the API: over HTTP, as any client's.
struct DemoAPI: Sendable {
    let url: String
    let client: CurlClient

    /// The status of the answer; nil when there was none.
    func post(_ path: String, bearer: String, _ body: [String: any Sendable]) async -> Int? {
        guard let data = try? JSONSerialization.data(withJSONObject: body) else { return nil }
        let request = OutboundRequest(
            method: "POST",
            url: url + path,
            headers: [("authorization", "Bearer \(bearer)"), ("content-type", "application/json")],
            body: Array(data),
            timeout: .seconds(10)
        )
        return try? await client.send(request).status
    }
}
