import AlertRules
package import Postgres
package import PushContract

/// Minutes with attempts that were reported after the minute was evaluated.
package enum LateAttemptStore {
    /// Minutes older than this are not evaluated again.
    static let horizon = 1440
    /// The rollup slots of imports begin here: what is imported is only counted.
    private static let firstImportSlot: Int16 = 1000

    /// A minute with late attempts that were not evaluated yet.
    struct LateMinute: Hashable {
        var minute: Minute
        var slot: Int16
        /// All late ones so far.
        var attempts: Int64
        /// Those that are new.
        var added: Int64

        /// Whether rules evaluate it again when `last` is the newest minute.
        func isEvaluated(at last: Minute) -> Bool {
            slot < LateAttemptStore.firstImportSlot && minute > last - LateAttemptStore.horizon && minute <= last
        }
    }

    static func waiting(on session: any PostgresSession) async throws -> [LateMinute] {
        try await session.query(
            "SELECT minute, writerSlot, attempts, attempts - evaluated FROM attemptLateMinutes WHERE attempts > evaluated ORDER BY minute"
        ).map {
            let (minute, slot, attempts, added) = try $0.decode((Timestamp, Int16, Int64, Int64).self)
            return LateMinute(minute: Minute(minute), slot: slot, attempts: attempts, added: added)
        }
    }

    /// Marks these minutes as evaluated, until more attempts of them arrive; removes minutes beyond the horizon.
    static func settle(_ minutes: [LateMinute], through last: Minute, in transaction: any PostgresSession) async throws {
        try await transaction.execute(
            """
            UPDATE attemptLateMinutes late SET evaluated = seen.attempts
            FROM unnest(\(minutes.map(\.minute.timestamp)), \(minutes.map { Int64($0.slot) }), \(minutes.map(\.attempts)))
                AS seen (minute, writerSlot, attempts)
            WHERE late.minute = seen.minute AND late.writerSlot = seen.writerSlot
            """
        )
        try await transaction.execute(
            "DELETE FROM attemptLateMinutes WHERE minute <= \((last - horizon).timestamp) AND attempts = evaluated"
        )
    }

    /// How many attempts of the minutes since then were reported late, imports left out.
    package static func count(since: Timestamp, on session: any PostgresSession) async throws -> Int64 {
        try await session.query(
            """
            SELECT coalesce(sum(attempts), 0)::bigint FROM attemptLateMinutes WHERE minute >= \(since) AND writerSlot < \(firstImportSlot)
            """
        )[0].decode(Int64.self)
    }
}
