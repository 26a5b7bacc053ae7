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
    package func members(of subject: String) async throws -> [Member] { try await members(behind: [(subject, Int64.max)]) }

    /// The same of several subjects, each with a timestamp: those that were sent it, or a newer one, are left out.
    package func members(behind states: [(subject: String, timestamp: Int64)]) async throws -> [Member] {
        guard !states.isEmpty else { return [] }
        return try await pool.query(
            """
            SELECT a.matchId, a.userId, a.deviceId, a.instance, a.updateTokenHash, a.lastTimestampSent
            FROM unnest(\(states.map(\.subject)), \(states.map(\.timestamp))) AS s(subject, timestamp)
            JOIN liveActivities a ON a.matchId = s.subject
            WHERE a.status = 'active' AND a.updateTokenHash IS NOT NULL AND a.channelId IS NULL AND a.lastTimestampSent < s.timestamp
            ORDER BY a.lastTimestampSent, a.startOrder
            """
        ).map { row in
            let (subject, userId, deviceId, instance, hash, last) = try row.decode((String, String, String, Int32, String, Int64).self)
            let key = ActivityKey(subject: subject, userId: userId, deviceId: deviceId, instance: Int(instance))
            return Member(key: key, tokenHash: hash, lastTimestamp: last)
        }
    }

    /// The same with tokens, for those whose token is not known yet; and how many of these tokens cannot be decrypted. Such an activity
    /// stays as it is, since the key may come back, and keeps nobody else from being updated.
    package func recipients(_ members: [Member]) async throws -> (known: [Recipient], unreadable: Int) {
        guard !members.isEmpty else { return ([], 0) }
        let rows = try await pool.query(
            """
            SELECT matchId, userId, deviceId, instance, updateToken, updateTokenHash, app, environment, lastTimestampSent,
                boundaryBudgetFullAt, createdAt, \(AlertQueries.alertedThrough)
            FROM liveActivities a
            WHERE matchId = ANY(\(Array(Set(members.map(\.key.subject))))) AND status = 'active'
              AND updateTokenHash = ANY(\(members.map(\.tokenHash)))
            """
        )
        let known = try rows.compactMap { row -> Recipient? in
            let values = try row.decode(
                (String, String, String, Int32, String, String, String, String, Int64, Timestamp?, Timestamp, Int64).self
            )
            guard let token = try? cipher.decrypt(values.4, as: .update, hash: try stored(values.5)) else { return nil }
            var recipient = Recipient(
                key: ActivityKey(subject: values.0, userId: values.1, deviceId: values.2, instance: Int(values.3)),
                token: token,
                app: values.6,
                environment: try stored(values.7),
                lastTimestamp: values.8
            )
            recipient.budgetFullAt = values.9
            recipient.createdAt = values.10
            recipient.alertedThrough = values.11
            return recipient
        }
        return (known, rows.count - known.count)
    }
}
