import Postgres
import PushContract

/// A lease as its holder knows it.
package struct LeaseKey: Sendable, Hashable {
    package var deliveryId: Int64
    package var leaseToken: Int64

    package init(deliveryId: Int64, leaseToken: Int64) {
        self.deliveryId = deliveryId
        self.leaseToken = leaseToken
    }
}

extension SendStore {
    /// Leases are renewed for so long after their claim; a try that hangs longer is given up, its outcome unknown.
    static let longestAttempt = Duration.seconds(600)

    /// Makes leases last from now, if they are still their holder's and have used up a third of their time; how many.
    package func renew(_ leases: [LeaseKey], lease: Duration) async throws -> Int {
        guard !leases.isEmpty else { return 0 }
        let ordered = leases.sorted { $0.deliveryId < $1.deliveryId }
        return try await pool.execute(
            """
            UPDATE pushLeases l SET leaseUntil = clock_timestamp() + \(lease.inSeconds) * interval '1 second'
            FROM unnest(\(ordered.map(\.deliveryId)), \(ordered.map(\.leaseToken))) AS c(deliveryId, leaseToken)
            WHERE l.deliveryId = c.deliveryId AND l.leaseToken = c.leaseToken
              AND l.leaseUntil < clock_timestamp() + \(lease.inSeconds * 2 / 3) * interval '1 second'
              AND l.claimedAt > clock_timestamp() - \(SendStore.longestAttempt.inSeconds) * interval '1 second'
            """
        )
    }
}
