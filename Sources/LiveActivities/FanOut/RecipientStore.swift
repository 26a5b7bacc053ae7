package import Delivery
package import Postgres
import PushContract

/// The active activities of a subject: the only ones that get updates.
package struct RecipientStore: Sendable {
    private let pool: PostgresPool
    private let cipher: TokenCipher

    package init(pool: PostgresPool, cipher: TokenCipher) {
        self.pool = pool
        self.cipher = cipher
    }

    /// One active activity without its token.
    package struct Member: Sendable, Hashable {
        package var key: ActivityKey
        package var tokenHash: String
        var lastTimestamp: Int64
    }

    /// Those that listen to a channel are updated by it, though some have a token as well.
    ///
    /// - Parameter behind: only those that have not been sent this timestamp.
    package func members(of subject: String, behind timestamp: Int64? = nil) async throws -> [Member] {
        try await pool.query(
            """
            SELECT userId, deviceId, instance, updateTokenHash, lastTimestampSent FROM liveActivities
            WHERE matchId = \(subject) AND status = 'active' AND updateTokenHash IS NOT NULL AND channelId IS NULL
              AND lastTimestampSent < coalesce(\(timestamp)::bigint, 9223372036854775807)
            ORDER BY lastTimestampSent, startOrder
            """
        ).map { row in
            let (userId, deviceId, instance, hash, last) = try row.decode((String, String, Int32, String, Int64).self)
            let key = ActivityKey(subject: subject, userId: userId, deviceId: deviceId, instance: Int(instance))
            return Member(key: key, tokenHash: hash, lastTimestamp: last)
        }
    }

    /// The same with tokens, for those whose token is not known yet.
    package func recipients(_ members: [Member]) async throws -> [Recipient] {
        guard let subject = members.first?.key.subject else { return [] }
        return try await pool.query(
            """
            SELECT userId, deviceId, instance, updateToken, updateTokenHash, app, environment, lastTimestampSent, boundaryBudgetFullAt,
                createdAt, \(AlertQueries.alertedThrough)
            FROM liveActivities a
            WHERE matchId = \(subject) AND status = 'active' AND updateTokenHash = ANY(\(members.map(\.tokenHash)))
            """
        ).map { row in
            let values = try row.decode((String, String, Int32, String, String, String, String, Int64, Timestamp?, Timestamp, Int64).self)
            var recipient = Recipient(
                key: ActivityKey(subject: subject, userId: values.0, deviceId: values.1, instance: Int(values.2)),
                token: try cipher.decrypt(values.3, as: .update, hash: try stored(values.4)),
                app: values.5,
                environment: try stored(values.6),
                lastTimestamp: values.7
            )
            recipient.budgetFullAt = values.8
            recipient.createdAt = values.9
            recipient.alertedThrough = values.10
            return recipient
        }
    }
}
