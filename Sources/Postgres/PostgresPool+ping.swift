extension PostgresPool {
    /// Returns when the database answers; throws what stands in the way.
    package func ping() async throws {
        _ = try await query("SELECT 1")
    }
}
