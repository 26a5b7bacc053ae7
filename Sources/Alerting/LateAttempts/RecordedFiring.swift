import AlertRules
import Postgres
import PushContract

/// A time in which an alert fired, as it was recorded: after the minute that set it, through the minute that ended it.
struct RecordedFiring: Hashable {
    var group: GroupKey
    var from: Minute
    /// Nil while it fires.
    var until: Minute?

    /// Those of the alerts of a rule that fire, or ended since then.
    static func read(rule: String, since: Timestamp, on session: any PostgresSession) async throws -> [RecordedFiring] {
        let rows = try await session.query(
            """
            SELECT groupLabels, minute, lead(minute) OVER (PARTITION BY alertId ORDER BY seq), kind = 'resolved'
            FROM alertTransitions JOIN alerts USING (alertId)
            WHERE rule = \(rule) AND (state = 'firing' OR resolvedAt >= \(since)) AND kind IN ('firing', 'reopened', 'resolved')
            ORDER BY alertId, seq
            """
        )
        return try rows.compactMap {
            let (labels, minute, end, isEnd) = try $0.decode((String, Timestamp, Timestamp?, Bool).self)
            guard !isEnd else { return nil }
            return RecordedFiring(group: try GroupKey(labels: labels), from: Minute(minute) + 1, until: end.map { Minute($0) + 1 })
        }
    }
}
