import Postgres
import PushContract

extension SendStore {
    /// Removes sends older than `age`, with their deliveries and outcomes; how many. Their attempts have a retention of their own.
    ///
    /// A send lives 28 days at most, so anything older than 30 is over, whatever state it is left in.
    package func forget(olderThan age: Duration, limit: Int = 500) async throws -> Int {
        let age = max(age, .seconds(30 * 86_400))
        return try await pool.performTransaction { connection in
            let rows = try connection.query(
                """
                DELETE FROM pushSends WHERE sendId IN (
                    SELECT sendId FROM pushSends
                    WHERE createdAt < statement_timestamp() - \(age.inSeconds) * interval '1 second' LIMIT \(limit) FOR UPDATE SKIP LOCKED
                ) RETURNING sendId
                """
            )
            let sendIds = try rows.map { try $0.decode(String.self) }
            guard !sendIds.isEmpty else { return 0 }
            try forgetDeliveries("sendId = ANY(\(sendIds))", on: connection)
            try connection.execute("DELETE FROM pushCancels WHERE sendId = ANY(\(sendIds))")
            return sendIds.count
        }
    }

    /// Removes deliveries of features above that are over, with their outcomes; how many. None is attempted for as long as that.
    func forgetQueued(olderThan age: Duration = .seconds(7 * 86_400), limit: Int = 5000) async throws -> Int {
        try await pool.performTransaction { connection in
            try forgetDeliveries(
                """
                deliveryId IN (SELECT deliveryId FROM pushDeliveries
                    WHERE sendId IS NULL AND createdAt < statement_timestamp() - \(age.inSeconds) * interval '1 second'
                    ORDER BY createdAt LIMIT \(limit) FOR UPDATE SKIP LOCKED)
                """,
                on: connection
            )
        }
    }

    @discardableResult
    private func forgetDeliveries(_ condition: Query, on connection: BlockingConnection) throws -> Int {
        let gone = try connection.query("DELETE FROM pushDeliveries WHERE \(condition) RETURNING deliveryId").map {
            try $0.decode(Int64.self)
        }
        for table in ["pushFinished", "pushDead", "pushScheduled"] {
            try connection.execute("DELETE FROM \(raw: table) WHERE deliveryId = ANY(\(gone))")
        }
        return gone.count
    }
}
