import Providers
package import PushContract

/// When a refusal holds everything of its credential, and what lifts that.
package enum CircuitDecision {
    /// What a claimed delivery finds.
    package enum Admission: Sendable, Hashable {
        /// Nothing keeps it. `circuitsToClose`: holds that are refuted if the provider takes the credential now.
        case allowed(circuitsToClose: [Int64])
        /// It waits with the hold.
        case blocked(Int64)
    }

    /// Nil when the refusal is not about the credential, or may be the message's own fault.
    ///
    /// A topic that the message names itself says nothing about others; a refused key does, whatever the topic.
    package static func opening(
        for delivery: ClaimedDelivery,
        after refusal: DeliveryResult.Refusal,
        credential: String,
        delays: RetryDelays,
        random: Double
    ) -> CircuitOpening? {
        guard refusal.classification.retryClass == .afterFix else { return nil }
        if refusal.refusalScope == .topic && refusal.isOwnTopic { return nil }
        let code = refusal.providerErrorCode ?? refusal.classification.reasonCode.rawValue
        let scope = CircuitScope(
            provider: delivery.provider,
            app: delivery.app,
            environment: delivery.environment,
            // A key that the project keeps for one platform.
            platform: refusal.refusalScope == .platform ? delivery.platform : nil,
            credential: credential
        )
        return CircuitOpening(scope: scope, cause: code, probeAfter: RetryDecision.backOff(delays.afterFix, attemptNumber: 1, random: random))
    }

    /// Whether a delivery may go. A probe may; another credential than the refused one may.
    package static func admission(of delivery: ClaimedDelivery, credential: String, circuits: [Circuit]) -> Admission {
        let covering = circuits.filter { $0.scope.covers(delivery) }
        if let probed = delivery.probeOf { return .allowed(circuitsToClose: covering.map(\.id) + [probed]) }
        if let circuit = covering.first(where: { $0.scope.credential == credential }) { return .blocked(circuit.id) }
        return .allowed(circuitsToClose: covering.map(\.id))
    }

    /// Whether the provider has judged the push itself, and so has taken the credential.
    package static func isCredentialAccepted(_ outcome: DeliveryResult.Outcome) -> Bool {
        guard case .refused(let refusal) = outcome else { return true }
        // An outage or a full quota is answered before anybody looks at the credential; so is nothing at all.
        return refusal.classification.retryClass == .never && refusal.classification.reasonCode != .auth && refusal.wasAnswered
    }

    /// Whether somebody should make a try now. `credential`: the one in use here for the hold's place.
    package static func isProbeDue(_ circuit: Circuit, credential: String, now: Timestamp) -> Bool {
        circuit.nextProbeAt <= now || hasNewCredential(circuit, credential: credential)
    }

    /// Another credential came into use, and has not been tried yet.
    package static func hasNewCredential(_ circuit: Circuit, credential: String) -> Bool {
        credential != circuit.scope.credential && credential != circuit.probedWith
    }

    /// Until the try after this one.
    package static func probeInterval(_ circuit: Circuit, delays: RetryDelays, random: Double) -> Duration {
        RetryDecision.backOff(delays.afterFix, attemptNumber: circuit.probes + 2, random: random)
    }
}
