package import Logging
package import Postgres

/// Gives `body` a pool on a database of its own, made from the migrated template (or empty), and drops the database afterwards.
package func withDatabase<T>(
    migrated: Bool = true,
    maxConnections: Int = 8,
    logger: Logger = .silent,
    _ body: (PostgresPool) async throws -> T
) async throws -> T {
    try await withDatabaseURL(migrated: migrated) { url in
        let pool = PostgresPool(configuration: PostgresConfiguration(url: url, maxConnections: maxConnections), logger: logger)
        defer { pool.close() }
        return try await body(pool)
    }
}

/// The same with the connection URL, for what makes its own connections.
package func withDatabaseURL<T>(migrated: Bool = true, _ body: (_ url: String) async throws -> T) async throws -> T {
    let cluster = try await SharedCluster.shared.cluster()
    let name = try await cluster.create(migrated: migrated)
    do {
        let value = try await body(cluster.url(name))
        await cluster.drop(name)
        return value
    } catch {
        await cluster.drop(name)
        throw error
    }
}

/// The project's migrations and grants, as `pushwatch migrate` applies them.
package func migrate(_ url: String) async throws {
    let configuration = PostgresConfiguration(url: url)
    try await Migrator(configuration: configuration, directory: TestCluster.migrations, allowsGaps: true, logger: .silent).migrate()
}

extension Logger {
    /// Says nothing: tests speak through their expectations.
    package static var silent: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}
