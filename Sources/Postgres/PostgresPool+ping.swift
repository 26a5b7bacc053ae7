extension PostgresPool {
    /// Returns when the database answers; throws what stands in the way.
    package func ping() async throws {
        _ = try await query("SELECT 1")
    }

    /// Tells the planner what the tables hold, after a large import.
    package func analyze() async throws {
        try await execute("ANALYZE")
    }
}
