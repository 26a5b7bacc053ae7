import Postgres
import TestDatabase

/// A look at a database beside the server's own connections.
func withPool<Value>(_ database: String, _ body: (PostgresPool) async throws -> Value) async throws -> Value {
    // What a soak leaves behind is counted in one statement; several sessions of a stopped instance may hold a lock, one after the other.
    let limit: Duration = Soak.minutes == nil ? .seconds(120) : .seconds(900)
    let configuration = PostgresConfiguration(url: database, maxConnections: 2, statementTimeout: limit)
    let pool = PostgresPool(configuration: configuration, logger: .silent)
    defer { pool.close() }
    return try await body(pool)
}
