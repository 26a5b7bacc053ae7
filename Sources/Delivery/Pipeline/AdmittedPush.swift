import Attempts
import Providers
import PushContract

/// A push that the gate lets pass, who is to carry it, and what follows from the answer. By reference, as `PreparedPush`.
final class AdmittedPush: Sendable {
    let prepared: PreparedPush
    let provider: (any PushProvider)?
    private let credential: String
    /// Open circuits that its outcome may close.
    private let circuitsToClose: [Circuit]

    init(_ prepared: PreparedPush, by provider: (any PushProvider)?, credential: String, circuitsToClose: [Circuit]) {
        self.prepared = prepared
        self.provider = provider
        self.credential = credential
        self.circuitsToClose = circuitsToClose
    }

    /// What the answer says about its scope.
    @inline(never)
    func assess(_ result: PushResult, by gate: SendGate, acceptedElsewhere: Timestamp? = nil, now: Timestamp) -> GateVerdict {
        guard case .attempted(let answer) = result else { return .nothing }
        return gate.assess(
            answer,
            prepared.scope,
            hasOwnTopic: prepared.push.hasOwnTopic,
            credential: credential,
            operationKey: prepared.push.identity.operationKey,
            acceptedElsewhere: acceptedElsewhere,
            now: now
        )
    }

    /// What is written about it.
    @inline(never)
    func outcome<Consequence: Sendable>(
        of result: PushResult,
        _ verdict: GateVerdict,
        intent: Int64?,
        startedAt: Timestamp,
        at: Timestamp,
        _ decide: (PushResult, inout PushFindings) -> Consequence?
    ) -> DeliveryOutcome<Consequence> {
        guard case .attempted(let answer) = result else { preconditionFailure("without an attempt") }
        var findings = PushFindings(
            answer,
            of: prepared.push,
            credential: credential,
            circuitsToClose: circuitsToClose,
            verdict: verdict,
            startedAt: startedAt
        )
        let consequence = decide(result, &findings)
        return DeliveryOutcome(
            attempt: Attempt(prepared.push.identity, answer, at: startedAt),
            consequence: consequence,
            findings: findings,
            lease: prepared.lease,
            intent: intent,
            at: at,
            detail: answer.detail
        )
    }
}
