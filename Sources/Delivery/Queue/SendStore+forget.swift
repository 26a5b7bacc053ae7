import Postgres
import PushContract

extension SendStore {
    /// Deliveries that one transaction removes: a send may have millions.
    static let forgetLimit = 5000
    /// Of sends and their outcomes: a send lives 28 days at most.
    static let minimumRetention = Duration.seconds(30 * 86_400)

    /// Removes sends older than `age`, with their deliveries and outcomes; whether there may be more. Their attempts have a retention of
    /// their own.
    ///
    /// Anything older than `minimumRetention` is over, whatever state it is left in. One with dead letters that were retried lives longer;
    /// it stays for another day, when its last attempt has ended.
    package func forget(olderThan age: Duration, limit: Int = SendStore.forgetLimit) async throws -> Bool {
        let age = max(age, SendStore.minimumRetention)
        return try await pool.performTransaction { connection in
            let sends = 500
            let sendIds = try connection.query(
                """
                SELECT sendId FROM pushSends WHERE createdAt < statement_timestamp() - \(age.inSeconds) * interval '1 second'
                    AND expiresAt < statement_timestamp() - interval '1 day'
                LIMIT \(sends) FOR UPDATE SKIP LOCKED
                """
            ).map { try $0.decode(String.self) }
            guard !sendIds.isEmpty else { return false }
            try connection.execute("DELETE FROM pushFanOuts WHERE sendId = ANY(\(sendIds))")
            let gone = try forgetDeliveries(
                "deliveryId = ANY(ARRAY(SELECT deliveryId FROM pushDeliveries WHERE sendId = ANY(\(sendIds)) LIMIT \(limit)))",
                on: connection
            )
            guard gone < limit else { return true }
            try connection.execute("DELETE FROM pushCancels WHERE sendId = ANY(\(sendIds))")
            try connection.execute("DELETE FROM pushSends WHERE sendId = ANY(\(sendIds))")
            return sendIds.count == sends
        }
    }

    /// Removes deliveries of features above that are over, with their outcomes; how many. None is attempted for as long as that.
    func forgetQueued(olderThan age: Duration = .seconds(7 * 86_400), limit: Int = SendStore.forgetLimit) async throws -> Int {
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
        for table in ["pushFinishedSingles", "pushDead", "pushScheduled"] {
            try connection.execute("DELETE FROM \(raw: table) WHERE deliveryId = ANY(\(gone))")
        }
        return gone.count
    }
}
