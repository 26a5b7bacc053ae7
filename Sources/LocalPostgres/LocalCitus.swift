package import Logging
import Postgres

/// A coordinator and its workers on this machine, from a PostgreSQL that has Citus installed. For tests and benches; nothing of Citus is
/// part of Pushwatch.
package final class LocalCitus: Sendable {
    package let coordinator: LocalPostgres
    package let workers: [LocalPostgres]

    package var nodes: [LocalPostgres] { [coordinator] + workers }

    private init(coordinator: LocalPostgres, workers: [LocalPostgres]) {
        self.coordinator = coordinator
        self.workers = workers
    }

    /// - Parameters:
    ///   - directory: each node has its own below it.
    ///   - binaries: a `bin` directory of a PostgreSQL with the extension.
    package static func start(
        in directory: String,
        binaries: String,
        workers: Int = 2,
        durable: Bool = false,
        settings: [String: String] = [:],
        logger: Logger
    ) async throws -> LocalCitus {
        var nodes: [LocalPostgres] = []
        do {
            for name in ["coordinator"] + (0..<workers).map({ "worker\($0 + 1)" }) {
                var configuration = LocalPostgresConfiguration(
                    directory: directory + "/" + name,
                    database: "postgres",
                    durable: durable,
                    maxConnections: 200,
                    settings: ["shared_preload_libraries": "citus", "wal_level": "logical", "max_wal_senders": "10"].merging(settings) {
                        $1
                    }
                )
                configuration.binaries = binaries
                nodes.append(try await LocalPostgres.start(configuration, logger: logger))
            }
        } catch {
            for node in nodes { node.stopBlocking(.immediate) }
            throw error
        }
        return LocalCitus(coordinator: nodes[0], workers: Array(nodes.dropFirst()))
    }

    /// A database on each node, with the extension, in which the coordinator knows the workers; its URL on the coordinator.
    package func createDatabase(_ name: String) async throws -> String {
        for node in nodes {
            let connection = try await PostgresConnection.connect(PostgresConfiguration(url: node.socketURL(database: "postgres")))
            try await connection.executeScript("CREATE DATABASE \(name)")
            try await PostgresConnection.connect(PostgresConfiguration(url: node.socketURL(database: name)))
                .executeScript("CREATE EXTENSION citus")
        }
        let url = coordinator.socketURL(database: name)
        let connection = try await PostgresConnection.connect(PostgresConfiguration(url: url))
        // By their sockets, which need no password.
        _ = try await connection.query("SELECT citus_set_coordinator_host(\(coordinator.socketDirectory), \(coordinator.port)::integer)")
        for worker in workers {
            _ = try await connection.query("SELECT citus_add_node(\(worker.socketDirectory), \(worker.port)::integer)")
        }
        return url
    }

    package func stop() {
        for node in nodes { node.stopBlocking(.immediate) }
    }
}
