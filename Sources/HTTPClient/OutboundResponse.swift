/// The peer's answer, whatever its status.
package struct OutboundResponse: Sendable {
    package var status: Int
    /// In the order received.
    package var headers: HeaderFields
    /// At most `CurlClientConfiguration.maxResponseBody` bytes.
    package var body: [UInt8]
    /// Whether the body was longer and was cut off.
    package var isTruncated: Bool
    /// Identifies the connection within the client.
    package var connectionId: Int
    /// When the connection was opened; nil from `CurlClient`.
    package var connectionOpened: ContinuousClock.Instant?
    /// From passing the request to the loop to the last byte of the answer.
    package var latency: Duration
    /// From writing the request to the last byte of the answer: without the wait for a connection or a stream.
    package var responseTime: Duration
    package var httpVersion: Version

    package enum Version: String, Sendable { case http1, http2, other }

    /// The first value of a header; `name` in lower case.
    package func header(_ name: String) -> String? { headers[name] }

    package init(
        status: Int,
        headers: HeaderFields = [],
        body: [UInt8] = [],
        isTruncated: Bool = false,
        connectionId: Int = 0,
        connectionOpened: ContinuousClock.Instant? = nil,
        latency: Duration = .zero,
        responseTime: Duration? = nil,
        httpVersion: Version = .http2
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.isTruncated = isTruncated
        self.connectionId = connectionId
        self.connectionOpened = connectionOpened
        self.latency = latency
        self.responseTime = responseTime ?? latency
        self.httpVersion = httpVersion
    }
}
