import Postgres
import TestSupport

/// Waits until every one of these sends has ended as sent.
func expectSent(_ sends: Set<String>, on pool: PostgresPool) async throws {
    let ids = Array(sends)
    try await eventually("every acknowledged send is sent", within: .seconds(180)) {
        // Leases of a killed run out with time; the time is given here rather than waited for.
        try await pool.execute("UPDATE pushLeases SET leaseUntil = now() WHERE claimedAt < now() - interval '30 seconds'")
        return try await pool.query(
            """
            SELECT count(*) FROM unnest(\(ids)) AS i (id) JOIN pushDeliveries d ON d.sendId = i.id
            JOIN pushFinished f USING (deliveryId) WHERE f.outcome = 'sent'
            """
        )[0].decode(Int.self) == ids.count
    }
}
