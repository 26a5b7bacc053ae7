package import Postgres

/// Runs `body` while the table of the audit takes no entry.
package func withRefusingAudit<Value>(_ pool: PostgresPool, _ body: () async throws -> Value) async throws -> Value {
    try await pool.execute("ALTER TABLE auditEntries ADD CONSTRAINT refused CHECK (false) NOT VALID")
    let value = try await body()
    try await pool.execute("ALTER TABLE auditEntries DROP CONSTRAINT refused")
    return value
}
