package import HTTPClient
package import PushClient

/// An app's way to the API, over HTTP.
package struct HTTPPushTransport: PushTransport {
    private let url: String
    private let client: CurlClient
    private let session: @Sendable (_ uid: String) async -> String?

    /// - Parameter session: the bearer token of a user's session; nil when there is none.
    package init(url: String, client: CurlClient, session: @escaping @Sendable (_ uid: String) async -> String?) {
        self.url = url
        self.client = client
        self.session = session
    }

    package func send(_ request: PushRequest) async -> PushResponse? {
        var headers: HeaderFields = [("x-request-id", request.requestId)]
        switch request.credential {
        case .session(let uid): if let token = await session(uid) { headers.append("authorization", "Bearer \(token)") }
        case .secret(let secret): headers.append("authorization", "Bearer \(secret)")
        }
        if request.body != nil { headers.append("content-type", "application/json") }
        let outbound = OutboundRequest(
            method: request.method,
            url: url + request.path,
            headers: headers,
            body: request.body ?? [],
            timeout: .seconds(20)
        )
        guard let answer = try? await client.send(outbound) else { return nil }
        let retryAfter = answer.header("retry-after").flatMap { Int($0) }
        return PushResponse(status: answer.status, body: answer.body, retryAfter: retryAfter)
    }
}
