package import Postgres

/// Performs an action while the audit takes no entry, and again when it does. What is wrong with it: nothing where the action and its entry
/// are one.
///
/// - Parameters:
///   - tables: what the action changes.
///   - action: can be performed once.
package func faultsOfRefusedEntry(
    in tables: [String],
    on pool: PostgresPool,
    _ action: () async throws -> Void
) async throws -> [String] {
    var faults: [String] = []
    let before = try await contents(tables, on: pool)
    let entries = try await contents(["auditEntries"], on: pool)
    try await pool.execute("ALTER TABLE auditEntries ADD CONSTRAINT refused CHECK (false) NOT VALID")
    do {
        try await action()
        faults.append("it does not fail without its entry")
    } catch let error as PostgresError where error.constraint == "refused" {}
    if try await contents(tables, on: pool) != before { faults.append("it is done without its entry") }
    try await pool.execute("ALTER TABLE auditEntries DROP CONSTRAINT refused")
    try await action()
    if try await contents(tables, on: pool) == before { faults.append("it changes nothing") }
    if try await contents(["auditEntries"], on: pool) == entries { faults.append("it has no entry") }
    return faults
}

private func contents(_ tables: [String], on pool: PostgresPool) async throws -> [String] {
    var contents: [String] = []
    for table in tables {
        let rows = try await pool.query("SELECT coalesce(string_agg(t::text, E'\\n' ORDER BY t::text), '') FROM \(raw: table) t")
        contents.append(try rows[0].decode(String.self))
    }
    return contents
}
