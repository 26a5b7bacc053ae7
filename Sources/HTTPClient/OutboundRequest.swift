/// One HTTP request to the outside, complete and bounded.
package struct OutboundRequest: Sendable {
    package var method: String
    /// Absolute, `http` or `https`.
    package var url: String
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    /// From `send` to the last byte of the answer, waiting for a connection included.
    package var timeout: Duration
    /// The connection (`OutboundResponse.connectionId`) not to use, as a peer may demand that refused a credential on it. It takes no
    /// further requests of anybody; what is under way on it is waited for.
    package var avoidedConnection: Int?
    /// From the end of the request to the first byte of the answer; nil leaves it to `timeout`.
    package var firstByteTimeout: Duration?

    package init(
        method: String = "POST",
        url: String,
        headers: [(String, String)] = [],
        body: [UInt8] = [],
        timeout: Duration = .seconds(20),
        firstByteTimeout: Duration? = nil,
        avoidedConnection: Int? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers.map { (name: $0.0, value: $0.1) }
        self.body = body
        self.timeout = timeout
        self.firstByteTimeout = firstByteTimeout
        self.avoidedConnection = avoidedConnection
    }
}
