import Delivery
package import PushContract

/// What the outcome of a push means for its activity or channel.
package struct LiveConsequence: Sendable {
    package enum Effect: Sendable {
        /// A state was sent.
        ///
        /// - Parameter budgetFullAt: the device's bucket for boundaries after one was taken from it; nil: none was.
        case updated(timestamp: Int64, stateHash: String, budgetFullAt: Timestamp?)
        /// The update token is dead, since `goneAt` if the provider says so.
        case tokenDeactivated(goneAt: Timestamp?)
        case tokenSuspect
        /// About a broadcast channel.
        case channel(ChannelEffect)
        case nothing

        var isNothing: Bool { if case .nothing = self { true } else { false } }
    }

    package var key: ActivityKey
    package var effect: Effect
    /// What became of the alerts that were due, unless they still are.
    package var alerts: [AlertResult] = []
}

/// One outcome as the statements take it.
struct LiveOutcome {
    /// In the batch.
    var index: Int
    var key: ActivityKey
    var effect: LiveConsequence.Effect
    var alerts: [AlertResult]
    /// Nil when nothing was sent.
    var attempt: Attempt?
    var at: Timestamp

    /// Of the token that was sent to; "" when nothing was sent.
    var tokenHash: String { attempt?.tokenHash.rawValue ?? "" }

    init?(_ index: Int, _ outcome: DeliveryOutcome<LiveConsequence>) {
        guard let consequence = outcome.consequence else { return nil }
        self.index = index
        key = consequence.key
        effect = consequence.effect
        alerts = consequence.alerts
        attempt = outcome.attempt
        at = outcome.at
    }
}

extension LiveOutcome {
    /// Alerts that did not arrive with this push.
    var undelivered: [UndeliveredAlert] {
        guard !alerts.isEmpty, let attempt, let app = attempt.app, let environment = attempt.environment else { return [] }
        return alerts.compactMap { result in
            let delivery = key.alert(result.alert, app: app, environment: environment, token: tokenHash)
            return result.undelivered(key.subject, delivery, reason: attempt.reasonCode, code: attempt.providerErrorCode)
        }
    }
}
