import Attempts
package import LocalPostgres
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
    return try await cluster.withDatabase(migrated: migrated) { try await body(cluster.url($0)) }
}

/// The same on a cluster, whatever the others of this process are on. One that is not migrated has workers and no table.
package func withDistributedDatabase<T>(
    migrated: Bool = true,
    _ body: (_ cluster: LocalCitus, _ database: String) async throws -> T
) async throws -> T {
    let cluster = try await SharedCluster.distributed.cluster()
    guard let citus = cluster.citus else { throw TestEngine.NoCitus() }
    return try await cluster.withDatabase(migrated: migrated) { try await body(citus, $0) }
}

/// The project's migrations and grants, as `pushwatch migrate` applies them.
package func migrate(_ url: String) async throws {
    let configuration = PostgresConfiguration(url: url)
    try await Migrator(configuration: configuration, directory: TestCluster.migrations, allowsGaps: true, logger: .silent).migrate()
}

/// The same on a cluster, whose workers then have the attempts and the ledger.
package func distribute(_ url: String) async throws {
    try await migrate(url)
    try await TableDistribution(configuration: PostgresConfiguration(url: url)).distribute()
}

extension Logger {
    /// Says nothing: tests speak through their expectations.
    package static var silent: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}
