package import Postgres
package import PushContract

/// Reading attempts: for the API, the pages and the command line.
package struct AttemptStore: Sendable {
    private let session: any PostgresSession

    package init(_ session: any PostgresSession) { self.session = session }

    /// The attempt under an id; nil when the ledger does not know it (never seen, or received more than 8 to 9 days ago).
    package func find(attemptId: String) async throws -> Attempt? {
        try await find(AttemptKey(attemptId: attemptId))
    }

    /// The same, for who has no id to show: the key is a hash of it.
    package func find(_ key: AttemptKey) async throws -> Attempt? {
        let rows = try await session.query(
            """
            SELECT \(raw: StoredAttempt.columns) FROM notificationDeliveryAttempts
            WHERE attemptedAt = (SELECT max(attemptedAt) FROM attemptLedger WHERE attemptKey = \(key)) AND attemptKey = \(key)
            """
        )
        return try rows.first.map(StoredAttempt.decode)
    }

    /// Which of these ids are of stored attempts of other apps than these, or of none. For sessions that look up by index: it is asked with
    /// reports. Two statements, since a join of many ids with the ledger as well would read all attempts.
    func keys(_ keys: [AttemptKey], ofOtherAppsThan apps: Set<String>) async throws -> Set<AttemptKey> {
        let known = try await session.query(
            "SELECT attemptKey, max(attemptedAt) FROM attemptLedger WHERE attemptKey = ANY(\(keys)) GROUP BY 1"
        ).map { try $0.decode((AttemptKey, Timestamp).self) }
        guard !known.isEmpty else { return [] }
        // Joined as pairs: of two arrays PostgreSQL may look up each pair of their elements, which grows with the square of the ids.
        let rows = try await session.query(
            """
            SELECT attemptKey FROM notificationDeliveryAttempts
            JOIN unnest(\(known.map(\.1)), \(known.map(\.0))) AS wanted (at, key) ON attemptedAt = wanted.at AND attemptKey = wanted.key
            WHERE app IS NULL OR app <> ALL(\(apps.sorted()))
            """
        )
        return try Set(rows.map { try $0.decode(AttemptKey.self) })
    }

    /// A person's or a token's attempts, newest first.
    ///
    /// - Parameters:
    ///   - since: the oldest `attemptedAt`; bounds how many day partitions are read.
    package func list(uid: String?, tokenHash: TokenHash?, since: Timestamp, limit: Int) async throws -> [Attempt] {
        let rows = try await session.query(
            """
            SELECT \(raw: StoredAttempt.columns) FROM notificationDeliveryAttempts
            WHERE attemptedAt >= \(since)
              AND (\(uid)::text IS NULL OR uid = \(uid))
              AND (\(tokenHash?.rawValue)::text IS NULL OR tokenHash = \(tokenHash?.rawValue))
            ORDER BY attemptedAt DESC, attemptKey LIMIT \(limit)
            """
        )
        return try rows.map(StoredAttempt.decode)
    }

    /// The attempts of one send for these people, oldest first, at most `limit`. Through the index by uid and time: the facts have none by
    /// sendId.
    package func list(sendId: String, uids: [String], since: Timestamp, limit: Int) async throws -> [Attempt] {
        let rows = try await session.query(
            """
            SELECT \(raw: StoredAttempt.columns) FROM notificationDeliveryAttempts
            WHERE uid = ANY(\(uids)) AND attemptedAt >= \(since - .seconds(60)) AND sendId = \(sendId) AND eventType = 'send'
            ORDER BY attemptedAt, attemptId LIMIT \(limit)
            """
        )
        return try rows.map(StoredAttempt.decode)
    }
}
