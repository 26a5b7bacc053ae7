import CCurl

/// What is known about a transfer that ended without an answer.
struct TransferDiagnosis {
    var code: CURLcode
    var isWholeRequestWritten: Bool
    var wasLost: Bool
    var wasRefused: Bool
    var connectionId = 0
    var text: String

    /// Decides between *not written* and *unanswered*; in doubt, unanswered.
    func failure(latency: Duration) -> OutboundFailure {
        var failure = classified(latency: latency)
        failure.connectionId = connectionId
        return failure
    }

    private func classified(latency: Duration) -> OutboundFailure {
        // With TLS 1.3 the alert comes after the request was handed to TLS; the peer reads none of it.
        if refusesClientCertificate { return OutboundFailure(.notWritten, .clientCertificate, detail: text, latency: latency) }
        if wasLost {
            return OutboundFailure(.unanswered, .reset, detail: "the connection was lost before the answer", latency: latency)
        }
        // Only our refusal to rewind ends a transfer with this code.
        if wasRefused, code == CURLE_SEND_FAIL_REWIND {
            return OutboundFailure(.notWritten, .goaway, detail: "the peer refused the stream as not processed", latency: latency)
        }
        guard isWholeRequestWritten else { return OutboundFailure(.notWritten, kind, detail: text, latency: latency) }
        // A failure to connect after the request was written is libcurl's next connection; what counts is the loss of the first.
        let wasConnecting = kind == .dns || kind == .connect || kind == .tls
        return OutboundFailure(.unanswered, wasConnecting ? .reset : kind, detail: text, latency: latency)
    }

    /// OpenSSL's texts for the TLS alerts about a client certificate.
    private var refusesClientCertificate: Bool {
        guard text.contains(" alert ") else { return false }
        return TransferDiagnosis.certificateAlerts.contains { text.contains($0) }
    }

    private static let certificateAlerts = [
        "bad certificate", "unsupported certificate", "certificate revoked", "certificate expired", "certificate unknown", "unknown ca",
        "access denied", "certificate required",
    ]

    private var kind: OutboundFailure.Kind {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .dns
        case CURLE_COULDNT_CONNECT, CURLE_PROXY: .connect
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_INVALIDCERTSTATUS:
            .tls
        case CURLE_OPERATION_TIMEDOUT: .timeout
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_HTTP2, CURLE_HTTP2_STREAM,
            CURLE_SEND_FAIL_REWIND:
            .reset
        default: .other
        }
    }
}
