import Postgres
import PushContract

/// Makes one row of what several writers have counted for the same minute and dimensions, once the hour is over.
///
/// Exact next to writers: what is deleted is what is added, in one statement, and what a writer holds or adds meanwhile stays in the
/// writer's slot for a later round. It waits for no writer, so that the two cannot deadlock; two instances that compact the same hour add
/// in one order.
struct RollupCompaction {
    let pool: PostgresPool

    /// No writer counts in it.
    static let slot = -1

    /// Of one statement.
    private static let step: Int64 = 600
    private static let hour: Int64 = 3600

    /// The hours that a round compacts: the last one that has been over for an hour, and some of all that reports may still come for or an
    /// import may have filled. Pure, so that instances need not remember how far they are.
    static func hours(now: Timestamp, round: Duration, days: Int64, perRound: Int64 = 4) -> [Timestamp] {
        let newest = now.seconds / hour - 2
        let turn = now.microseconds / max(1, round.microseconds) * perRound
        let others = (0..<perRound).map { newest - 1 - (turn + $0) % (days * 24) }
        return ([newest] + others).map { Timestamp(seconds: $0 * hour) }
    }

    func compact(hour start: Timestamp) async throws {
        let month = PartitionPlan.rollup(day: start.day)
        for from in stride(from: start.seconds, to: start.seconds + RollupCompaction.hour, by: Int64.Stride(RollupCompaction.step)) {
            let range = Timestamp(seconds: from)..<Timestamp(seconds: from + RollupCompaction.step)
            try await compact(
                "attemptRollups",
                partition: month.name,
                keys: "minute, provider, platform, eventType, status, reasonCode, app, environment, pushType, appMajor",
                sums: ["attempts", "latencyMsSum", "latencyCount"],
                range
            )
            try await compact(
                "attemptLatencies",
                partition: month.latencies.name,
                keys: "minute, provider, app, upToMs",
                sums: ["attempts"],
                range
            )
        }
    }

    private func compact(_ table: String, partition: String, keys: String, sums: [String], _ range: Range<Timestamp>) async throws {
        let sumsText = sums.joined(separator: ", ")
        let added = sums.map { "\($0) = counted.\($0) + excluded.\($0)" }.joined(separator: ", ")
        do {
            try await pool.execute(
                """
                WITH gone AS (
                    DELETE FROM \(raw: partition) WHERE ctid = ANY(ARRAY(
                        SELECT ctid FROM \(raw: partition)
                        WHERE minute >= \(range.lowerBound) AND minute < \(range.upperBound)
                          AND writerSlot <> \(raw: "\(RollupCompaction.slot)")
                        FOR UPDATE SKIP LOCKED
                    ))
                    RETURNING \(raw: keys), \(raw: sumsText)
                )
                INSERT INTO \(raw: table) AS counted (\(raw: keys), writerSlot, \(raw: sumsText))
                SELECT \(raw: keys), \(raw: "\(RollupCompaction.slot)"), \(raw: sums.map { "sum(\($0))" }.joined(separator: ", ")) FROM gone
                GROUP BY \(raw: keys) HAVING \(raw: sums.map { "sum(\($0)) <> 0" }.joined(separator: " OR "))
                ORDER BY \(raw: keys)
                ON CONFLICT (\(raw: keys), writerSlot) DO UPDATE SET \(raw: added)
                """
            )
        } catch let error as PostgresError where error.code == .undefinedTable {
            // Nothing was ever counted in that month.
        }
    }
}
