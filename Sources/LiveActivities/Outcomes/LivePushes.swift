import CoreMetrics
package import Delivery
package import Postgres

/// Pushes of Live Activities that are no deliveries of the queue: updates and broadcasts.
package struct LivePushes: DeliveryKind {
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
        return try OutcomeQueries.dead(outcomes, deferred: context.deferred, on: connection)
    }

    package func report(_ outcome: DeliveryOutcome<LiveConsequence>, _ disposition: OutcomeDisposition) {
        if disposition == .lost { LiveMetrics.lostOutcomes.increment() }
    }
}
