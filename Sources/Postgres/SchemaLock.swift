import PushContract

/// Who changes the schema of a database in use takes turns: migrations, grants to roles, partitions made ahead.
///
/// Without it a GRANT that meets DDL on the same table fails with "tuple concurrently updated": the catalogue's rows have no locks of
/// their own. A row of `schemaLocks` and no advisory lock: that one anybody could take who may connect. `sql/migrations/roles.sql` takes
/// the same row, since it may be run by hand. Nobody but the owner of the tables may lock it.
package enum SchemaLock {
    /// The row that is locked while the schema changes, and the one that is locked during all of a migrator's run.
    enum Name: String {
        case schema
        case migration
    }

    /// The lock lasts to the end of the transaction, whose `lock_timeout` this sets.
    /// - Parameter limit: for this and each later lock of the transaction; nil: what the transaction has set.
    /// - Throws: `lockNotAvailable` after that time, with the session that has the lock.
    package static func acquire(on session: some PostgresSession, limit: Duration? = .seconds(5)) async throws {
        if let limit { try await session.execute("SET LOCAL lock_timeout = \(raw: String(limit.microseconds / 1000))") }
        // Citus changes shards of a node at the same time otherwise, and attaching two of them can deadlock. Nothing elsewhere.
        try await session.execute("SET LOCAL citus.multi_shard_modify_mode = 'sequential'")
        try await acquire(.schema, on: session)
    }

    static func acquire(_ name: Name, on session: some PostgresSession) async throws {
        // After an error nothing else can be asked in the transaction, unless it goes back to here.
        try await session.execute("SAVEPOINT schemaLock")
        do {
            let rows = try await session.query("SELECT name FROM schemaLocks WHERE name = \(name.rawValue) FOR UPDATE")
            guard !rows.isEmpty else { throw PostgresError(.decoding, "schemaLocks lacks its rows: run `pushwatch migrate`") }
        } catch let error as PostgresError where error.code == .lockNotAvailable {
            try await session.execute("ROLLBACK TO SAVEPOINT schemaLock")
            let holder = try await LockHolder.ofSchemaLocks(on: session)
            throw PostgresError(.lockNotAvailable, "the lock of the schema is taken by \(LockHolder.text(holder))")
        }
    }

    static let createTable = """
        CREATE TABLE IF NOT EXISTS schemaLocks (name text PRIMARY KEY);
        INSERT INTO schemaLocks VALUES ('schema'), ('migration') ON CONFLICT DO NOTHING
        """
}
