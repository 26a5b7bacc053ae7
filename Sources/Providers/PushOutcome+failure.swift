import HTTPClient
import PushContract

extension PushOutcome {
    /// The codes of pushes that were not written: ours, not a provider's. A closed list (alerts/runbooks/provider-unreachable.md).
    package static let unsentCodes = Set(OutboundFailure.Kind.allCases.map(\.rawValue) + [OAuthResponse.failureCode])

    /// The outcome of a request without an answer. If it was not written, a retry cannot duplicate it; if it was, the outcome is unknown.
    static func notSent(_ failure: OutboundFailure) -> PushOutcome {
        if failure.kind == .clientCertificate {
            // Like any refused credential: its circuit stays open until the credential is fixed.
            var outcome = PushOutcome.failed(
                Classification(.auth, retry: .afterFix),
                code: failure.kind.rawValue,
                detail: failure.description,
                latency: failure.latency
            )
            outcome.refusalScope = .credential
            return outcome
        }
        var outcome = PushOutcome.failed(
            ReasonMapping.network,
            // One that was written has the code of an unknown outcome, whatever ended the wait.
            code: failure.phase == .notWritten ? failure.kind.rawValue : nil,
            detail: failure.description,
            latency: failure.latency
        )
        // The peer closed the stream unprocessed: the connection was closing, the provider did not fail.
        if failure.phase == .notWritten && failure.kind == .goaway { outcome.retryClass = .now }
        // A stream closed by the peer is no evidence of a provider failure.
        outcome.refusalScope = failure.kind == .goaway || failure.kind == .cancelled ? .message : .provider
        if failure.phase == .unanswered {
            outcome.outcomeUnknown = true
            outcome.unansweredKind = failure.kind
        }
        return outcome
    }

    /// The outcome of a message that was not sent, since the provider would refuse its content.
    static func rejectedLocally(_ fault: PushError) -> PushOutcome {
        .failed(Classification(.unknown, retry: .never), code: fault.code, detail: "Not sent: \(fault.message)")
    }
}
