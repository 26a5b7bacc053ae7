import Foundation
import HTTPClient
import HTTPServer
package import ServiceKit

/// A caller of the HTTP API.
package struct APICaller {
    package let url: String
    private let key: String
    private let client: CurlClient

    package init(url: String, key: String) {
        self.url = url
        self.key = key
        var configuration = CurlClientConfiguration()
        configuration.httpVersion = .http1
        configuration.connectTimeout = .seconds(5)
        client = CurlClient(configuration: configuration)
    }

    /// The status and JSON of the response. Throws `CommandFailure` without a response, and on one that is not a success.
    package func call(
        _ method: String,
        _ path: String,
        _ body: JSONValue? = nil
    ) async throws -> (status: Int, text: String, json: JSONValue) {
        var headers: HeaderFields = [("authorization", "Bearer \(key)")]
        if body != nil { headers.append("content-type", "application/json") }
        let request = OutboundRequest(method: method, url: url + path, headers: headers, body: body.map { $0.bytes() } ?? [])
        let response: OutboundResponse
        do throws(OutboundFailure) {
            response = try await client.send(request)
        } catch {
            throw CommandFailure.environment(
                error.phase == .notWritten
                    ? "\(url) cannot be reached: \(error.detail)"
                    : "\(url) did not respond: \(error.detail). It may have processed the request."
            )
        }
        let text = String(decoding: response.body, as: UTF8.self)
        let json = (try? JSONParser.parse(response.body)) ?? .null
        switch response.status {
        case 200..<300: return (response.status, text, json)
        case 503: throw CommandFailure.environment("\(url) is not ready: \(json.member("detail") ?? "503")")
        case 400, 422: throw CommandFailure.usage("\(json.member("detail") ?? "\(url) refuses the request.")")
        default: throw CommandFailure.check("\(json.member("detail") ?? "\(url) responded with status \(response.status).")")
        }
    }
}

extension JSONValue {
    /// A member that is a string.
    package func member(_ name: String) -> String? {
        guard case .object(let members) = self, case .string(let text)? = members[name] else { return nil }
        return text
    }
}
