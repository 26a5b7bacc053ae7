/// One HTTP request to the outside, complete and bounded.
package struct OutboundRequest: Sendable {
    package var method: String
    /// Absolute, `http` or `https`.
    package var url: String
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    /// From `send` to the last byte of the answer, waiting for a connection included.
    package var timeout: Duration
    /// Asks for a connection that nothing was sent on before, as a peer may demand after refusing a credential.
    package var needsFreshConnection: Bool

    package init(
        method: String = "POST",
        url: String,
        headers: [(String, String)] = [],
        body: [UInt8] = [],
        timeout: Duration = .seconds(20),
        needsFreshConnection: Bool = false
    ) {
        self.method = method
        self.url = url
        self.headers = headers.map { (name: $0.0, value: $0.1) }
        self.body = body
        self.timeout = timeout
        self.needsFreshConnection = needsFreshConnection
    }
}
