import Postgres
import TestDatabase

/// A look at a database beside the server's own connections.
func withPool<Value>(_ database: String, _ body: (PostgresPool) async throws -> Value) async throws -> Value {
    let pool = PostgresPool(configuration: PostgresConfiguration(url: database, maxConnections: 2), logger: .silent)
    defer { pool.close() }
    return try await body(pool)
}
