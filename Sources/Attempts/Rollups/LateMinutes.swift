import Postgres
import PushContract

/// Minutes whose rollups change after rules have evaluated them: what is late goes to `attemptLateMinutes`, for the evaluator.
enum LateMinutes {
    /// Rules look at each minute again for ten minutes after its end; what changes later than this is recorded. The margin is for
    /// transactions that take long.
    static let after: Int64 = 8

    static func isLate(_ minute: Int64, now: Timestamp) -> Bool { minute < now.minute - after }

    /// - Parameter counts: attempts by minute since 1970, of late minutes.
    static func query(_ counts: [Int64: Int64], slot: Int16) -> Query? {
        let late = counts.filter { $0.value > 0 }.sorted { $0.key < $1.key }
        guard !late.isEmpty else { return nil }
        return """
            INSERT INTO attemptLateMinutes AS late (minute, writerSlot, attempts)
            SELECT minute, \(slot)::smallint, attempts
            FROM unnest(\(late.map { Timestamp(seconds: $0.key * 60) }), \(late.map(\.value))) AS counted (minute, attempts)
            ON CONFLICT (minute, writerSlot) DO UPDATE SET attempts = late.attempts + excluded.attempts
            """
    }
}
