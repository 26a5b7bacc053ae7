/// One outgoing HTTP request, complete and with a deadline.
package struct OutboundRequest: Sendable {
    package var method: String
    /// Absolute, `http` or `https`.
    package var url: String
    package var headers: HeaderFields
    package var body: [UInt8]
    /// From `send` to the last byte of the answer, waiting for a connection included.
    package var timeout: Duration
    /// Only connections that were opened later (`OutboundResponse.connectionOpened`) may carry it, as after a refusal that holds for a
    /// connection. The others accept no further requests; those in flight are completed. `CurlClient` ignores it.
    package var connectionOpenedAfter: ContinuousClock.Instant?
    /// Requests share connections, and limits of connections, only with those of the same group: what hangs in one delays no other, also on
    /// one host and port. Groups are few. `HTTP2Client` ignores them: there each credential has a client of its own.
    package var connectionGroup = ""
    /// The limit from the end of the request to the first byte of the answer; nil: only `timeout` applies.
    var firstByteTimeout: Duration?

    package init(
        method: String = "POST",
        url: String,
        headers: HeaderFields = [],
        body: [UInt8] = [],
        timeout: Duration = .seconds(20),
        firstByteTimeout: Duration? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
        self.firstByteTimeout = firstByteTimeout
    }
}
