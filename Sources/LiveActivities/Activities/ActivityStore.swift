package import Delivery
package import Postgres
import PushContract

/// Live Activities in PostgreSQL: the calls apps make about them. Safe to use from any task.
package struct ActivityStore: Sendable {
    let pool: PostgresPool
    let cipher: TokenCipher

    package init(pool: PostgresPool, cipher: TokenCipher) {
        self.pool = pool
        self.cipher = cipher
    }

    /// The instances of one activity key.
    package func history(subject: String, userId: String, deviceId: String) async throws -> ActivityHistory {
        ActivityHistory(
            try await pool.query(ActivityQueries.instances(subject: subject, userId: userId, deviceId: deviceId))
                .map(ActivityInstance.init)
        )
    }
}

enum ActivityQueries {
    static func instances(subject: String, userId: String, deviceId: String) -> Query {
        """
        SELECT instance, status, endReason, updateTokenHash, tokenRegisteredAt, replacedTokenHash, startSentAt, activatedAt, endedAt
        FROM liveActivities WHERE matchId = \(subject) AND userId = \(userId) AND deviceId = \(deviceId) ORDER BY instance
        """
    }

    /// Calls about one key take turns, also while it has no row yet.
    static func lock(subject: String, userId: String, deviceId: String) -> Query {
        KeyLock.take(.activity, [subject + " " + userId + " " + deviceId])
    }
}

extension ActivityInstance {
    init(_ row: Row) throws {
        let values = try row.decode((Int32, String, String?, String?, Timestamp?, String?, Timestamp?, Timestamp?, Timestamp?).self)
        self.init(
            number: Int(values.0),
            status: try stored(values.1),
            endReason: try values.2.map { try stored($0) },
            tokenHash: try values.3.map { try stored($0) },
            tokenRegisteredAt: values.4,
            replacedTokenHash: try values.5.map { try stored($0) },
            startSentAt: values.6,
            activatedAt: values.7,
            endedAt: values.8
        )
    }
}
