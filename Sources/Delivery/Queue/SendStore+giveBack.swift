import Postgres
import PushContract

extension SendStore {
    /// A lease that is younger may be of a transaction under way.
    static let unknownLeaseWait = Duration.seconds(30)

    /// Makes deliveries ready again that this worker has leased and knows nothing of, as the answer to the commit was lost; how many. None of
    /// them was begun, so nothing is recorded.
    ///
    /// - Parameter known: leases of what was begun.
    func giveBack(of worker: String, except known: [LeaseKey]) async throws -> Int {
        try await pool.execute(
            """
            WITH unknown AS MATERIALIZED (
                SELECT deliveryId FROM pushLeases WHERE worker = \(worker) AND leaseToken <> ALL(\(known.map(\.leaseToken)))
                    AND claimedAt < clock_timestamp() - \(Self.unknownLeaseWait.inSeconds) * interval '1 second'
                FOR UPDATE SKIP LOCKED
            ), taken AS (
                DELETE FROM pushLeases l USING unknown WHERE l.deliveryId = unknown.deliveryId
                RETURNING l.deliveryId, l.queue, l.attemptNumber
            )
            INSERT INTO pushReady (queue, deliveryId, attemptNumber, readyAt)
            SELECT queue, deliveryId, attemptNumber, clock_timestamp() FROM taken ORDER BY deliveryId
            """
        )
    }
}
