/// Who changes the schema of a database in use takes turns: migrations, grants to roles, partitions made ahead.
///
/// Without it a GRANT that meets DDL on the same table fails with "tuple concurrently updated": the catalogue's rows have no locks of
/// their own. `sql/migrations/roles.sql` takes the same lock, since it may be run by hand.
package enum SchemaLock {
    /// Held to the end of the transaction.
    /// - Throws: `lockNotAvailable` after the transaction's `lock_timeout`.
    package static func acquire(on session: some PostgresSession) async throws {
        try await session.execute("SELECT pg_advisory_xact_lock(7204113)")
    }
}
