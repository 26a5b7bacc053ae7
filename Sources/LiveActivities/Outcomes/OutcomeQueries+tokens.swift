import Delivery
import Postgres
import PushContract

extension OutcomeQueries {
    /// Which of them ended an activity: those whose token was not replaced meanwhile, and that no limiter withholds.
    static func dead(_ outcomes: [LiveOutcome], deferred: Set<Int>, on connection: BlockingConnection) throws -> Set<Int> {
        var keys = KeyColumns()
        var indexes: [Int] = []
        var hashes: [String] = []
        var goneAts: [Timestamp?] = []
        var certain: [Bool] = []
        var moments: [Timestamp] = []
        for outcome in outcomes where !deferred.contains(outcome.index) {
            switch outcome.effect {
            case .tokenDeactivated(let goneAt):
                certain.append(true)
                goneAts.append(goneAt)
            case .tokenSuspect:
                certain.append(false)
                goneAts.append(nil)
            default: continue
            }
            keys.append(outcome.key)
            indexes.append(outcome.index)
            hashes.append(outcome.tokenHash)
            moments.append(outcome.at)
        }
        guard !indexes.isEmpty else { return [] }
        let rows = try connection.query(
            """
            UPDATE liveActivities a SET suspectRefusals = a.suspectRefusals + 1,
                status = (CASE WHEN o.certain OR a.suspectRefusals >= 1 THEN 'ended' ELSE 'active' END)::activityStatus,
                endReason = CASE WHEN o.certain OR a.suspectRefusals >= 1 THEN 'token_invalid' END,
                endedAt = CASE WHEN o.certain OR a.suspectRefusals >= 1 THEN o.at END
            FROM unnest(\(keys.columns), \(indexes), \(hashes), \(goneAts), \(certain), \(moments))
                AS o(subject, userId, deviceId, instance, number, hash, goneAt, certain, at)
            WHERE \(KeyColumns.match) AND a.status = 'active' AND a.updateTokenHash = o.hash
              AND a.tokenRegisteredAt <= coalesce(o.goneAt, 'infinity')
            RETURNING o.number, a.status
            """
        )
        return Set(
            try rows.compactMap { row in
                let (number, status) = try row.decode((Int, String).self)
                return status == "ended" ? number : nil
            }
        )
    }
}
