import Providers
import PushContract
import ServiceKit

/// From a provider's answer to where the delivery goes.
enum OutcomeDecision {
    /// - Parameters:
    ///   - push: the attempt of this delivery.
    ///   - findings: what the answer says beyond the delivery; changed where the environment of the token is in question.
    ///   - hasOtherEnvironment: there is a credential to try the token with in the other environment.
    ///   - random: in 0...1, for the jitter of a retry.
    static func next(
        of delivery: ClaimedDelivery,
        _ push: Push,
        after outcome: PushOutcome,
        _ findings: inout PushFindings,
        hasOtherEnvironment: @autoclosure () -> Bool = false,
        now: Timestamp,
        delays: RetryDelays,
        random: @autoclosure () -> Double
    ) -> DeliveryNext {
        guard let classification = outcome.classification else {
            findings.tokenEnvironment = EnvironmentDecision.afterAcceptance(of: delivery, push.identity.tokenHash)
            return .sent(SentMessageId(outcome))
        }
        findings.tokenEnvironment = EnvironmentDecision.afterRefusal(
            outcome,
            of: delivery,
            push.identity.tokenHash,
            hasOther: hasOtherEnvironment()
        )
        if case .resolved? = findings.tokenEnvironment {
            // Neither environment accepts it: what counts is the refusal in the environment it was registered with.
            findings.opening = nil
            findings.pause = nil
            findings.credentialScope?.environment = delivery.environment.other
            findings.sample = findings.credentialScope.map { RefusalSample(.ambiguous, at: $0) }
            findings.feedback = findings.credentialScope.flatMap {
                push.feedback(.suspect, cause: EnvironmentDecision.code, in: $0, startedAt: now)
            }
            return .dead(.failed, reason: .tokenInvalid, providerErrorCode: EnvironmentDecision.code)
        }
        if let opening = findings.opening {
            let isOver = now >= delivery.expiresAt || (outcome.outcomeUnknown && delivery.policy == .atMostOnce)
            // An outage is one whatever becomes of this delivery; a refusal that nothing waits for needs no probe.
            if !isOver { return .blocked(.opening(opening), after: classification.reasonCode) }
            if !opening.scope.kind.isOutage { findings.opening = nil }
        }
        if findings.ownRefusals >= GateEvidence.ownRefusals {
            return .dead(.failed, reason: classification.reasonCode, providerErrorCode: outcome.providerErrorCode)
        }
        if findings.ownRefusals > 0 {
            // Others are accepted: this delivery's own fault, most likely, and soon known.
            let at = now + delays.ownRefusal.wait(failures: findings.ownRefusals, random: random())
            return at < delivery.expiresAt
                ? .retry(at: at, after: classification.reasonCode)
                : .dead(.expired, reason: classification.reasonCode, providerErrorCode: outcome.providerErrorCode)
        }
        let failure = RetryDecision.Failure(
            classification: classification,
            provider: delivery.provider,
            attemptNumber: delivery.attemptNumber,
            isThrottled: outcome.isThrottled,
            retryAfter: outcome.retryAfter,
            isOutcomeUnknown: outcome.outcomeUnknown
        )
        let decision = RetryDecision.after(
            failure,
            policy: delivery.policy,
            now: now,
            expiresAt: delivery.expiresAt,
            delays: delays,
            random: random()
        )
        switch decision {
        case .retry(let at): return .retry(at: at, after: classification.reasonCode)
        case .expired: return .dead(.expired, reason: classification.reasonCode, providerErrorCode: outcome.providerErrorCode)
        case .giveUp: return .dead(.failed, reason: classification.reasonCode, providerErrorCode: outcome.providerErrorCode)
        }
    }
}
