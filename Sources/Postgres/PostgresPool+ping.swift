extension PostgresPool {
    /// Returns when the database answers; otherwise throws the reason.
    package func ping() async throws {
        _ = try await query("SELECT 1")
    }

    /// Updates the statistics of the planner, after a large import.
    package func analyze() async throws {
        try await execute("ANALYZE")
    }
}
