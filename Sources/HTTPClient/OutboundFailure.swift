/// Why there is no answer, and whether the peer may have processed the request.
package struct OutboundFailure: Error, Sendable, Equatable, CustomStringConvertible {
    package var phase: Phase
    package var kind: Kind
    /// What happened, in the words of TLS, HTTP/2 or libcurl. Contains no header, body or path.
    package var detail: String
    /// From handing the request to the loop to the failure.
    package var latency: Duration
    /// The connection that carried the request, as in `OutboundResponse`; 0 when none did.
    package var connectionId: Int

    package enum Phase: String, Sendable {
        /// The peer did not receive the whole request, or stated that it did not process it: a retry cannot duplicate it.
        case notWritten
        /// The request was written and no answer arrived: the outcome is unknown.
        case unanswered
    }

    /// A closed list; the raw values are the codes that attempts have (alerts/runbooks/provider-unreachable.md). libcurl distinguishes
    /// fewer of them.
    package enum Kind: String, Sendable, CaseIterable {
        case dns = "DNSFailed"
        case connect = "ConnectFailed"
        case connectRefused = "ConnectRefused"
        case connectTimeout = "ConnectTimeout"
        /// The proxy did not open a tunnel.
        case proxy = "ProxyFailed"
        case tls = "TLSFailed"
        case certificateExpired = "TLSCertificateExpired"
        /// No trusted authority has signed the peer's certificate, or it is not valid for another reason.
        case notTrusted = "TLSUntrusted"
        /// The peer's certificate is another host's.
        case wrongHost = "TLSWrongHost"
        /// The peer does not speak HTTP/2.
        case noHTTP2 = "TLSNoALPN"
        /// The peer ended TLS because of our client certificate, or because we showed none (RFC 8446 §6.2). It read no request.
        case clientCertificate = "TLSClientCertificateRefused"
        case timeout = "ResponseTimeout"
        /// All connections and streams were in use until the request's time was over.
        case streamTimeout = "StreamTimeout"
        case reset = "ConnectionReset"
        /// The peer closed the stream as not processed (REFUSED_STREAM, or GOAWAY with a lower last stream).
        case goaway = "GoAway"
        /// The waiting task was cancelled.
        case cancelled = "Cancelled"
        /// The client was shut down.
        case shutdown = "ClientShutdown"
        /// It could not be sent as it is.
        case other = "RequestFailed"
    }

    package init(_ phase: Phase, _ kind: Kind, detail: String, latency: Duration = .zero, connectionId: Int = 0) {
        self.phase = phase
        self.kind = kind
        self.detail = detail
        self.latency = latency
        self.connectionId = connectionId
    }

    /// For people, with the code that the documentation lists.
    package var description: String {
        let text = "\(detail) (\(kind.rawValue))"
        return phase == .notWritten || detail.hasPrefix("no answer") ? text : "no answer: \(text)"
    }

    /// Whether to retry immediately on another connection: the peer is reachable but did not process this request.
    var isUnprocessed: Bool { phase == .notWritten && (kind == .reset || kind == .goaway) }
}
