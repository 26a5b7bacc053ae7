import Postgres

extension SendingBench {
    /// Puts `count` non-critical sends to users without devices into one queue, as fast as the database takes them.
    func fill(_ count: Int) async throws {
        try await pool.execute("INSERT INTO pushQueues (app, provider, environment, class) VALUES ('a', 'apns', 'production', 'normal')")
        try await pool.execute(
            """
            INSERT INTO pushSends (sendId, contentHash, requestId, author, content, class, policy, createdAt, expiresAt)
            SELECT 's' || n, '', 'r', 'test', '{}', 'normal', 'at_least_once', now(), now() + interval '1 day' FROM generate_series(1, \(count)) n
            """
        )
        try await pool.execute(
            """
            INSERT INTO pushDeliveries (sendId, queue, uid, deviceId, platform, createdAt)
            SELECT 's' || n, 1, 'u' || n, 'd', 'ios', now() FROM generate_series(1, \(count)) n
            """
        )
        try await pool.execute(
            "INSERT INTO pushReady (queue, deliveryId, attemptNumber, readyAt) SELECT queue, deliveryId, 1, now() FROM pushDeliveries ORDER BY 2"
        )
        try await pool.execute("ANALYZE pushSends, pushDeliveries, pushReady, devices")
    }
}
