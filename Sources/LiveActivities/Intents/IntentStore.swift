package import Delivery
package import Postgres
import Providers
package import PushContract

/// Pushes that are about to leave, kept in PostgreSQL until their outcomes are. Safe to use from any task.
package struct IntentStore: Sendable {
    /// What is older was left over by a process that died, or by one that could not write an outcome. A request takes 20 seconds at most,
    /// its outcome waits for the database for another 60.
    package static let lostAfter = Duration.seconds(120)
    private static let groupsAtOnce = 8

    private let pool: PostgresPool
    private let record: AttemptRecorder

    package init(pool: PostgresPool, record: @escaping AttemptRecorder) {
        self.pool = pool
        self.record = record
    }

    /// Keeps a group under a number of the owner's. Pushes may leave once this has returned.
    package func save(_ intents: [PushIntent], owner: String, number: Int64) async throws {
        try await pool.execute(
            """
            INSERT INTO livePushIntents (owner, number, subjects, userIds, deviceIds, instances, operations, tokenHashes, apps,
                environments, attemptNumbers, requestIds)
            VALUES (\(owner), \(number), \(intents.map(\.key.subject)), \(intents.map(\.key.userId)), \(intents.map(\.key.deviceId)),
                \(intents.map { Int32($0.key.instance) }), \(intents.map(\.operation)), \(intents.map(\.tokenHash.rawValue)),
                \(intents.map(\.app)), \(intents.map(\.environment.rawValue)), \(intents.map { Int32($0.attemptNumber) }),
                \(intents.map(\.requestId)))
            """
        )
    }

    /// Forgets groups whose outcomes are written. In the transaction that writes the last of them.
    package static func forget(_ numbers: [Int64], owner: String, on connection: BlockingConnection) throws {
        guard !numbers.isEmpty else { return }
        try connection.execute("DELETE FROM livePushIntents WHERE owner = \(owner) AND number = ANY(\(numbers))")
    }

    /// The same for groups of which nothing is left to write.
    package func forget(_ numbers: [Int64], owner: String) async throws {
        try await pool.performTransaction { try IntentStore.forget(numbers, owner: owner, on: $0) }
    }

    /// Attempts of unknown outcome for what was left over; how many pushes. A push whose outcome was written after all keeps that one: an
    /// attempt has one row, and an unknown outcome never replaces a known one.
    package func resolveLost(olderThan age: Duration = lostAfter) async throws -> Int {
        try await pool.performTransaction { [record] connection in
            let lost = try connection.query(
                """
                WITH lost AS (
                    DELETE FROM livePushIntents WHERE (owner, number) IN (
                        SELECT owner, number FROM livePushIntents
                        WHERE startedAt < clock_timestamp() - \(age.inSeconds) * interval '1 second'
                        ORDER BY startedAt LIMIT \(IntentStore.groupsAtOnce) FOR UPDATE SKIP LOCKED)
                    RETURNING *
                )
                SELECT l.startedAt, p.* FROM lost l, unnest(l.subjects, l.userIds, l.deviceIds, l.instances, l.operations, l.tokenHashes,
                    l.apps, l.environments, l.attemptNumbers, l.requestIds) AS p
                """
            ).map { row in
                let values = try row.decode((Timestamp, String, String, String, Int32, String, String, String, String, Int32, String).self)
                let intent = PushIntent(
                    key: ActivityKey(subject: values.1, userId: values.2, deviceId: values.3, instance: Int(values.4)),
                    operation: values.5,
                    tokenHash: try stored(values.6),
                    app: values.7,
                    environment: try stored(values.8),
                    attemptNumber: Int(values.9),
                    requestId: values.10
                )
                return intent.attempt(.lost, at: values.0)
            }
            if !lost.isEmpty { try record(lost, connection) }
            return lost.count
        }
    }
}
