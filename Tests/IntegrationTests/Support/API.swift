import Foundation
import HTTPClient
import Synchronization
import TestDatabase

/// A caller of the API, over HTTP as everybody.
struct API: Sendable {
    var url: String
    var bearer: String?
    private let client: CurlClient

    /// `caFile`: whom to trust, where the server speaks TLS with a certificate of the test's own.
    init(url: String, bearer: String?, caFile: String? = nil) {
        self.url = url
        self.bearer = bearer
        var configuration = CurlClientConfiguration()
        configuration.httpVersion = .http1
        configuration.connectTimeout = .seconds(5)
        configuration.caFile = caFile
        // A picture of a long page is larger than any answer of ours.
        configuration.maxResponseBody = 16 << 20
        client = CurlClient(configuration: configuration)
    }

    func with(bearer: String?) -> API {
        var other = self
        other.bearer = bearer
        return other
    }

    struct Answer {
        var status: Int
        var headers: HeaderFields
        var text: String

        subscript(header name: String) -> String? { headers.first { $0.name == name }?.value }

        var json: [String: Any] { (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:] }
        /// The last part of a problem's `type`.
        var code: String? { (json["type"] as? String)?.split(separator: ":").last.map(String.init) }
        func array(_ key: String) -> [[String: Any]] { json[key] as? [[String: Any]] ?? [] }
        func count(_ key: String) -> Int { (json["counts"] as? [String: Any])?[key] as? Int ?? -1 }
    }

    func call(
        _ method: String,
        _ path: String,
        type: String? = nil,
        headers: [(String, String)] = [],
        body: [UInt8] = [],
        timeout: Duration = .seconds(30)
    ) async throws -> Answer {
        var all = headers
        if let bearer { all.append(("authorization", "Bearer \(bearer)")) }
        if let type { all.append(("content-type", type)) }
        let request = OutboundRequest(method: method, url: url + path, headers: HeaderFields(all), body: body, timeout: timeout)
        let response = try await client.send(request)
        return Answer(status: response.status, headers: response.headers, text: String(decoding: response.body, as: UTF8.self))
    }

    func get(_ path: String) async throws -> Answer { try await call("GET", path) }

    func post(_ path: String, _ json: Any, timeout: Duration = .seconds(30)) async throws -> Answer {
        let data = try JSONSerialization.data(withJSONObject: json)
        return try await call("POST", path, type: "application/json", body: Array(data), timeout: timeout)
    }

    func post(_ path: String, text: String, type: String = "application/json") async throws -> Answer {
        try await call("POST", path, type: type, body: Array(text.utf8))
    }
}

extension API {
    private static let clients = Mutex<[String: API]>([:])

    /// One client, and so one set of connections, for each server.
    static func shared(_ url: String) -> API {
        clients.withLock { clients in
            if let api = clients[url] { return api }
            let api = API(url: url, bearer: RunningServer.bootstrapKey)
            clients[url] = api
            return api
        }
    }
}
