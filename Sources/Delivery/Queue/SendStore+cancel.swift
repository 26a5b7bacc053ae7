import Postgres
import ServiceKit

extension SendStore {
    /// Among so many ids one transaction ends what is scheduled of a cancelled send, which may have millions of deliveries.
    package static let cancelLimit: Int64 = 5000
    /// Of a request's time. The answer counts all deliveries of the send.
    private static let answerTime = Duration.seconds(6)

    /// Cancels what of a send has not been sent. Nil when there is none with this id; else how many deliveries it stopped at once.
    ///
    /// What is not stored yet is not stored any more. Scheduled deliveries end now, as far as the request has time; `QueueMaintenance` ends
    /// the others. Ready ones end when a worker comes to them; one that is with the provider this moment may still arrive, and is not tried
    /// again.
    package func cancel(_ sendId: String, author: String, portion: Int64 = SendStore.cancelLimit) async throws -> Int? {
        // This alone stops the send, however large it is: a worker that claims one of its deliveries looks here.
        let isKnown = try await pool.performTransaction { connection -> Bool in
            let known = try connection.query("SELECT 1 FROM pushSends WHERE sendId = \(sendId)")
            guard !known.isEmpty else { return false }
            try connection.execute(
                """
                INSERT INTO pushCancels (sendId, author, cancelledAt, afterDeliveryId) VALUES (\(sendId), \(author), clock_timestamp(), 0)
                ON CONFLICT (sendId) DO UPDATE SET afterDeliveryId = 0, lastDeliveryId = NULL WHERE pushCancels.afterDeliveryId IS NULL
                """
            )
            try connection.execute("DELETE FROM pushFanOuts WHERE sendId = \(sendId)")
            return true
        }
        guard isKnown else { return nil }
        return try await endScheduled(of: sendId, portion: portion)
    }

    /// Some of the cancelled sends that may have scheduled deliveries: others have their turn also while one of them fails.
    func cancelledWithScheduled() async throws -> [String] {
        try await pool.query("SELECT sendId FROM pushCancels WHERE afterDeliveryId IS NOT NULL ORDER BY random() LIMIT 3").map {
            try $0.decode(String.self)
        }
    }

    /// Ends the scheduled deliveries of a cancelled send, in portions, as far as the request has time; how many.
    @discardableResult
    func endScheduled(of sendId: String, portion: Int64 = SendStore.cancelLimit) async throws -> Int {
        var ended = 0
        while let count = try await endNextScheduled(of: sendId, portion: portion) {
            ended += count
            if WorkDeadline.isOver(in: Self.answerTime) { break }
        }
        return ended
    }

    /// How many; nil if none is left.
    private func endNextScheduled(of sendId: String, portion: Int64) async throws -> Int? {
        try await pool.performTransaction { connection -> Int? in
            guard let left = try CancelQueries.left(of: sendId, on: connection) else { return nil }
            let end = min(left.after + portion, left.last)
            let ended = try connection.query(CancelQueries.endScheduled(of: sendId, after: left.after, to: end)).map { row in
                let (deliveryId, attempts) = try row.decode((Int64, Int32).self)
                return (deliveryId: deliveryId, attempts: Int(attempts))
            }
            try SendEvents.record(.cancelled, ended, on: connection)
            let after: Int64? = end < left.last ? end : nil
            try connection.executeLater(
                "UPDATE pushCancels SET afterDeliveryId = \(after), lastDeliveryId = \(left.last) WHERE sendId = \(sendId)"
            )
            return ended.count
        }
    }
}

private enum CancelQueries {
    /// Locks a cancelled send: between which deliveries some may be scheduled, nil if none is left.
    static func left(of sendId: String, on connection: BlockingConnection) throws -> (after: Int64, last: Int64)? {
        guard
            let row = try connection.query(
                """
                SELECT afterDeliveryId, lastDeliveryId FROM pushCancels
                WHERE sendId = \(sendId) AND afterDeliveryId IS NOT NULL FOR UPDATE
                """
            ).first
        else { return nil }
        let (after, last) = try row.decode((Int64, Int64?).self)
        if let last { return (after: after, last: last) }
        // OFFSET 0, here and below: PostgreSQL must not search the primary key from its beginning for the first one of the send, nor all
        // of the send for those of a portion.
        let (lowest, highest) = try connection.query(
            "SELECT min(deliveryId), max(deliveryId) FROM (SELECT deliveryId FROM pushDeliveries WHERE sendId = \(sendId) OFFSET 0) d"
        )[0].decode((Int64?, Int64?).self)
        guard let lowest, let highest else { return (after: 0, last: 0) }
        return (after: lowest - 1, last: highest)
    }

    static func endScheduled(of sendId: String, after: Int64, to end: Int64) -> Query {
        """
        WITH ended AS (
            DELETE FROM pushScheduled WHERE deliveryId = ANY(ARRAY(
                SELECT deliveryId FROM (
                    SELECT deliveryId, sendId FROM pushDeliveries WHERE deliveryId > \(after) AND deliveryId <= \(end) OFFSET 0
                ) d WHERE sendId = \(sendId)
            ))
            RETURNING deliveryId, queue, attemptNumber
        )
        INSERT INTO pushFinishedSingles (deliveryId, queue, outcome, attempts, finishedAt)
        SELECT deliveryId, queue, 'cancelled', attemptNumber - 1, clock_timestamp() FROM ended
        RETURNING deliveryId, attempts
        """
    }
}
