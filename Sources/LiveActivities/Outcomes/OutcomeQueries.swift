import Delivery
import Postgres
import PushContract

/// What outcomes of updates write to activities. Each statement takes any number of outcomes, and picks those it is about.
enum OutcomeQueries {
    /// Timestamps rise: a late answer about an older state changes nothing.
    static func updated(_ outcomes: [LiveOutcome], on connection: BlockingConnection) throws {
        var keys = KeyColumns()
        var stamps: [Int64] = []
        var hashes: [String] = []
        var moments: [Timestamp] = []
        var budgets: [Timestamp?] = []
        for outcome in outcomes {
            guard case .updated(let timestamp, let hash, let budget) = outcome.effect else { continue }
            keys.append(outcome.key)
            stamps.append(timestamp)
            hashes.append(hash)
            moments.append(outcome.at)
            budgets.append(budget)
        }
        guard !stamps.isEmpty else { return }
        try connection.execute(
            """
            UPDATE liveActivities a SET lastTimestampSent = o.stamp, lastStateHash = o.hash, lastSentAt = o.at, suspectRefusals = 0,
                boundaryBudgetFullAt = greatest(a.boundaryBudgetFullAt, o.budget)
            FROM unnest(\(keys.columns), \(stamps), \(hashes), \(moments), \(budgets))
                AS o(subject, userId, deviceId, instance, stamp, hash, at, budget)
            WHERE \(KeyColumns.match) AND a.lastTimestampSent < o.stamp
            """
        )
    }
}
