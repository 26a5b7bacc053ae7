package import Postgres
import PushContract

/// Pushes that are about to be sent, recorded in PostgreSQL until their outcomes are. Safe to use from any task.
package struct IntentStore: Sendable {
    /// What is older was left by a process that died, or that could not write an outcome. A request takes 20 seconds at most, and its
    /// outcome waits for the database for another 60.
    static let lostAfter = Duration.seconds(120)
    private static let groupsAtOnce = 8

    private let pool: PostgresPool
    private let lost: LostAttempts

    package init(pool: PostgresPool, record: @escaping AttemptRecorder) {
        self.pool = pool
        lost = LostAttempts(pool: pool, record: record)
    }

    /// Records a group under a number of the owner. Its pushes may be sent once this has returned.
    package func save(_ intents: [AttemptIdentity], owner: String, number: Int64) async throws {
        try await pool.execute(
            """
            INSERT INTO pushIntents (owner, number, uids, platforms, providers, environments, apps, tokenHashes, operationKeys,
                attemptNumbers, requestIds, pushTypes)
            VALUES (\(owner), \(number), \(intents.map(\.uid)), \(intents.map(\.platform.rawValue)), \(intents.map(\.provider.rawValue)),
                \(intents.map(\.environment.rawValue)), \(intents.map(\.app)), \(intents.map(\.tokenHash.rawValue)),
                \(intents.map(\.operationKey)), \(intents.map { Int32($0.attemptNumber) }), \(intents.map(\.requestId)),
                \(intents.map(\.pushType)))
            """
        )
    }

    /// Forgets groups whose outcomes are written, in the transaction that writes the last of them.
    static func forget(_ numbers: [Int64], owner: String, on connection: BlockingConnection) throws {
        guard !numbers.isEmpty else { return }
        try connection.executeLater("DELETE FROM pushIntents WHERE owner = \(owner) AND number = ANY(\(numbers))")
    }

    /// The same for groups of which nothing is left to write.
    func forget(_ numbers: [Int64], owner: String) async throws {
        try await pool.performTransaction { try IntentStore.forget(numbers, owner: owner, on: $0) }
    }

    /// Attempts of unknown outcome for what was left; how many. An attempt whose outcome was written keeps that one.
    package func resolveLost(olderThan age: Duration = lostAfter) async throws -> Int {
        try await lost.settle { connection in
            try connection.query(
                """
                WITH lost AS (
                    DELETE FROM pushIntents WHERE (owner, number) IN (
                        SELECT owner, number FROM pushIntents
                        WHERE startedAt < clock_timestamp() - \(age.inSeconds) * interval '1 second'
                        ORDER BY startedAt LIMIT \(IntentStore.groupsAtOnce) FOR UPDATE SKIP LOCKED)
                    RETURNING *
                )
                SELECT l.startedAt, p.* FROM lost l, unnest(l.uids, l.platforms, l.providers, l.environments, l.apps, l.tokenHashes,
                    l.operationKeys, l.attemptNumbers, l.requestIds, l.pushTypes) AS p
                """
            ).map(LostAttempt.init(intent:))
        }
    }
}

extension LostAttempt {
    fileprivate init(intent row: Row) throws {
        let values = try row.decode((Timestamp, String, String, String, String, String, String, String, Int32, String, String?).self)
        var identity = AttemptIdentity(
            uid: values.1,
            platform: try stored(values.2),
            provider: try stored(values.3),
            environment: try stored(values.4),
            app: values.5,
            tokenHash: try stored(values.6),
            operationKey: values.7,
            attemptNumber: Int(values.8),
            requestId: values.9
        )
        identity.pushType = values.10
        self.init(identity, startedAt: values.0)
    }
}
