import HTTPClient
import PushContract

extension PushOutcome {
    /// No answer came. Not written: it can be sent again without doubling. Written: nobody knows.
    static func notSent(_ failure: OutboundFailure) -> PushOutcome {
        if failure.kind == .clientCertificate {
            // As any refused credential: nothing else goes over this one until it is mended.
            var outcome = PushOutcome.failed(
                Classification(.auth, retry: .afterFix),
                detail: failure.description,
                latency: failure.latency
            )
            outcome.refusalScope = .credential
            return outcome
        }
        var outcome = PushOutcome.failed(ReasonMapping.network, detail: failure.description, latency: failure.latency)
        // The peer closed the stream unprocessed: the connection was at its end, not the provider.
        if failure.phase == .notWritten && failure.kind == .goaway { outcome.retryClass = .now }
        // A stream closed by the peer says nothing about the provider.
        outcome.refusalScope = failure.kind == .goaway || failure.kind == .cancelled ? .message : .provider
        outcome.outcomeUnknown = failure.phase == .unanswered
        return outcome
    }

    /// The content would have been refused, so it was not sent.
    static func rejectedLocally(_ fault: PushError) -> PushOutcome {
        .failed(Classification(.unknown, retry: .never), code: fault.code, detail: "Not sent: \(fault.message)")
    }
}
