import Providers
package import PushContract

/// When a refusal holds everything of its credential, and what lifts that.
package enum HoldDecision {
    /// What a claimed delivery finds.
    package enum Standing: Sendable, Hashable {
        /// Nothing keeps it. `proves`: holds that are refuted if the provider takes the credential now.
        case free(proves: [Int64])
        /// It waits with the hold.
        case held(Int64)
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
    ) -> HoldOpening? {
        guard refusal.classification.retryClass == .afterFix else { return nil }
        if refusal.reach == .topic && refusal.isOwnTopic { return nil }
        let code = refusal.providerErrorCode ?? refusal.classification.reasonCode.rawValue
        let scope = HoldScope(
            provider: delivery.provider,
            app: delivery.app,
            environment: delivery.environment,
            // A key that the project keeps for one platform.
            platform: refusal.reach == .platform ? delivery.platform : nil,
            credential: credential
        )
        return HoldOpening(scope: scope, cause: code, probeAfter: RetryDecision.grown(delays.afterFix, attemptNumber: 1, random: random))
    }

    /// Whether a delivery may go. A probe may; another credential than the refused one may.
    package static func standing(of delivery: ClaimedDelivery, credential: String, holds: [SendHold]) -> Standing {
        let covering = holds.filter { $0.scope.covers(delivery) }
        if let probed = delivery.probeOf { return .free(proves: covering.map(\.id) + [probed]) }
        if let hold = covering.first(where: { $0.scope.credential == credential }) { return .held(hold.id) }
        return .free(proves: covering.map(\.id))
    }

    /// Whether the provider has judged the push itself, and so has taken the credential.
    package static func isCredentialTaken(_ outcome: DeliveryResult.Outcome) -> Bool {
        guard case .refused(let refusal) = outcome else { return true }
        // An outage or a full quota is answered before anybody looks at the credential; so is nothing at all.
        return refusal.classification.retryClass == .never && refusal.classification.reasonCode != .auth && refusal.wasAnswered
    }

    /// Whether somebody should make a try now. `credential`: the one in use here for the hold's place.
    package static func isProbeDue(_ hold: SendHold, credential: String, now: Timestamp) -> Bool {
        hold.nextProbeAt <= now || isMended(hold, credential: credential)
    }

    /// Another credential came into use, and has not been tried yet.
    package static func isMended(_ hold: SendHold, credential: String) -> Bool {
        credential != hold.scope.credential && credential != hold.probedWith
    }

    /// Until the try after this one.
    package static func probeInterval(_ hold: SendHold, delays: RetryDelays, random: Double) -> Duration {
        RetryDecision.grown(delays.afterFix, attemptNumber: hold.probes + 2, random: random)
    }
}
