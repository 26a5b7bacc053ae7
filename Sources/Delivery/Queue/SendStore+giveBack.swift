import Postgres
import PushContract

extension SendStore {
    /// A lease that is younger may be of a transaction under way.
    static let unknownLeaseWait = Duration.seconds(30)

    /// Makes deliveries ready again that this worker has leased and knows nothing of, as the answer to the commit was lost; how many. None
    /// of them was begun, so nothing is recorded.
    ///
    /// - Parameter known: leases of what was begun, by their tokens.
    func giveBack(of worker: String, except known: Set<Int64>) async throws -> Int {
        try await pool.execute(
            """
            WITH unknown AS MATERIALIZED (
                SELECT leaseToken FROM pushLeases WHERE worker = \(worker) AND leaseToken <> ALL(\(known.sorted()))
                    AND claimedAt < clock_timestamp() - \(Self.unknownLeaseWait.inSeconds) * interval '1 second'
                FOR UPDATE SKIP LOCKED
            ), taken AS (
                DELETE FROM pushLeases WHERE leaseToken = ANY(ARRAY(SELECT leaseToken FROM unknown)) RETURNING leaseToken
            )
            INSERT INTO pushReady (queue, deliveryId, attemptNumber, readyAt)
            SELECT queue, deliveryId, attemptNumber, clock_timestamp() FROM pushLeasedDeliveries JOIN taken USING (leaseToken)
            ORDER BY deliveryId
            """
        )
    }
}
