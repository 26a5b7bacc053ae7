package import Delivery
package import Postgres
package import PushContract

/// Ends that are due. Any instance may send them: no lease of the subject is needed.
package struct EndStore: Sendable {
    /// After that the system has taken the activity away by itself.
    package static let giveUpAfter = Duration.seconds(4 * 3600)
    /// A claim that brought no outcome is taken up again after this.
    package static let lease = Duration.seconds(60)

    private let pool: PostgresPool
    private let cipher: TokenCipher

    package init(pool: PostgresPool, cipher: TokenCipher) {
        self.pool = pool
        self.cipher = cipher
    }

    /// - Parameter kept: places to be left out.
    package func claim(limit: Int, except excluded: Set<AppEnvironment> = [], now: Timestamp) async throws -> [EndClaim] {
        try await pool.query(
            """
            UPDATE liveActivities a SET endAttempts = endAttempts + 1,
                endDueAt = CASE WHEN endedAt > \(now - EndStore.giveUpAfter) THEN \(now + EndStore.lease) END
            FROM (SELECT matchId, userId, deviceId, instance FROM liveActivities l WHERE endDueAt <= \(now) AND \(excluded.exclusion(of: "l"))
                  ORDER BY endDueAt LIMIT \(limit) FOR UPDATE SKIP LOCKED) due
            WHERE a.matchId = due.matchId AND a.userId = due.userId AND a.deviceId = due.deviceId AND a.instance = due.instance
            RETURNING a.matchId, a.userId, a.deviceId, a.instance, a.endReason, a.updateToken, a.updateTokenHash, a.app, a.environment,
                a.lastTimestampSent, a.endAttempts
            """
        ).map { row in
            let values = try row.decode((String, String, String, Int32, String, String, String, String, String, Int64, Int32).self)
            return EndClaim(
                key: ActivityKey(subject: values.0, userId: values.1, deviceId: values.2, instance: Int(values.3)),
                reason: try stored(values.4),
                token: try cipher.decrypt(values.5, as: .update, hash: try stored(values.6)),
                app: values.7,
                environment: try stored(values.8),
                lastTimestamp: values.9,
                attempts: Int(values.10)
            )
        }
    }

    /// The wait before the next try of an end: it has to get there, and soon.
    package static func wait(after attempts: Int, retryAfter: Duration?) -> Duration {
        let waits: [Duration] = [.seconds(2), .seconds(10), .seconds(30), .seconds(120), .seconds(600)]
        return max(waits[min(max(attempts, 1), waits.count) - 1], retryAfter ?? .zero)
    }
}
