import CoreMetrics
package import Delivery
package import Postgres

/// Pushes of Live Activities that are no deliveries of the queue: updates and broadcasts.
package struct LivePushes: DeliveryKind {
    /// A state goes to thousands of tokens at once.
    package static let batchLimit = 500
    /// The next update of an activity waits for the outcome of the one before.
    package static let batchInterval = Duration.zero
    private let channels: ChannelPolicy

    package init(channels: ChannelPolicy = ChannelPolicy()) { self.channels = channels }

    package func apply(
        _ outcomes: [DeliveryOutcome<LiveConsequence>],
        _ context: OutcomeContext,
        on connection: BlockingConnection
    ) throws -> Set<Int> {
        let outcomes = outcomes.enumerated().compactMap { LiveOutcome($0.offset, $0.element) }
        try OutcomeQueries.updated(outcomes, on: connection)
        for outcome in outcomes {
            guard case .channel(let effect) = outcome.effect else { continue }
            try ChannelWriting.apply([effect], policy: channels, on: connection, now: outcome.at)
        }
        let dead = try OutcomeQueries.dead(outcomes, deferred: context.deferred, on: connection)
        let undelivered = outcomes.filter {
            LivePushes.hasEnded($0.effect, isDead: dead.contains($0.index), isDeferred: context.deferred.contains($0.index))
        }.flatMap(\.undelivered)
        if !undelivered.isEmpty { try UndeliveredAlert.record(undelivered, now: outcomes[0].at, on: connection) }
        return dead
    }

    package func report(_ outcome: DeliveryOutcome<LiveConsequence>, _ disposition: OutcomeDisposition) {
        switch disposition {
        case .lost: LiveMetrics.lostOutcomes.increment()
        case .stale: return
        case .written, .tokenDeactivated, .deactivationDeferred:
            guard let consequence = outcome.consequence, !consequence.alerts.isEmpty else { return }
            let isDead = disposition == .tokenDeactivated
            if LivePushes.hasEnded(consequence.effect, isDead: isDead, isDeferred: disposition == .deactivationDeferred) {
                LiveMetrics.alerted(consequence.alerts)
            }
        }
    }

    /// Whether the alerts are due no more. They are if a limiter keeps the token, or another one has replaced it.
    private static func hasEnded(_ effect: LiveConsequence.Effect, isDead: Bool, isDeferred: Bool) -> Bool {
        if case .tokenDeactivated = effect { isDead } else { !isDeferred }
    }
}
