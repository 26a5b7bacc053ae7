import Postgres
import PushContract

extension SendStore {
    /// Leases are renewed for so long after their claim; a try that hangs longer is given up, its outcome unknown.
    static let longestAttempt = Duration.seconds(600)

    /// Makes leases last from now, if they are still their holder's and have used up a third of their time; how many.
    ///
    /// Not those whose outcomes are being written: a later round finds them, if they are still there.
    ///
    /// - Parameter leases: their tokens.
    package func renew(_ leases: Set<Int64>, lease: Duration) async throws -> Int {
        guard !leases.isEmpty else { return 0 }
        return try await pool.execute(RenewQueries.renew(leases.sorted(), lease: lease))
    }
}

enum RenewQueries {
    /// The leases are given as an array, not joined, as those of `ClaimQueries.promote`.
    static func renew(_ leases: [Int64], lease: Duration) -> Query {
        """
        WITH used AS MATERIALIZED (
            SELECT leaseToken FROM pushLeases
            WHERE leaseToken = ANY(\(leases))
              AND leaseUntil < clock_timestamp() + \(lease.inSeconds * 2 / 3) * interval '1 second'
              AND claimedAt > clock_timestamp() - \(SendStore.longestAttempt.inSeconds) * interval '1 second'
            FOR NO KEY UPDATE SKIP LOCKED
        )
        UPDATE pushLeases SET leaseUntil = clock_timestamp() + \(lease.inSeconds) * interval '1 second'
        WHERE leaseToken = ANY(ARRAY(SELECT leaseToken FROM used))
        """
    }
}
