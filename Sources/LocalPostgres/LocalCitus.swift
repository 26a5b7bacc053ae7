import Foundation
package import Logging
import Postgres
import Synchronization

/// A coordinator and its workers on this machine, from a PostgreSQL that has Citus installed. For tests and benches; nothing of Citus is
/// part of Pushwatch.
package final class LocalCitus: Sendable {
    /// Without port and directory: what each node is started with.
    private let configuration: LocalPostgresConfiguration
    private let directory: String
    private let logger: Logger
    /// Between the nodes, which talk over Unix sockets without it.
    private let network: NodeNetwork?
    private let started = Mutex<[LocalPostgres]>([])

    /// The coordinator first. One that was started again is another object.
    package var nodes: [LocalPostgres] { started.withLock { $0 } }
    package var coordinator: LocalPostgres { nodes[0] }
    package var workers: [LocalPostgres] { Array(nodes.dropFirst()) }

    /// As docs/citus.md asks for.
    private static let networkSettings = [
        "citus.node_conninfo": "sslmode=require keepalives_idle=5 keepalives_interval=2 keepalives_count=3 tcp_user_timeout=10000",
        "tcp_keepalives_idle": "5", "tcp_keepalives_interval": "2", "tcp_keepalives_count": "3", "tcp_user_timeout": "10000",
    ]

    private init(configuration: LocalPostgresConfiguration, network: NodeNetwork?, logger: Logger) {
        self.configuration = configuration
        directory = configuration.directory
        self.network = network
        self.logger = logger
    }

    /// - Parameters:
    ///   - directory: each node has its own below it.
    ///   - binaries: a `bin` directory of a PostgreSQL with the extension.
    ///   - hasNetwork: each node has a network namespace of its own, and can be cut off (as root).
    package static func start(
        in directory: String,
        binaries: String,
        workers: Int = 2,
        hasNetwork: Bool = false,
        durable: Bool = false,
        settings: [String: String] = [:],
        logger: Logger
    ) async throws -> LocalCitus {
        let configuration = LocalPostgresConfiguration(
            directory: directory,
            binaries: binaries,
            database: "postgres",
            durable: durable,
            maxConnections: 300,
            settings: [
                "shared_preload_libraries": "citus", "wal_level": "logical", "max_wal_senders": "10",
                // In each database of each node Citus has a process that looks for deadlocks and for transactions that were left prepared.
                "max_worker_processes": "100",
            ].merging(hasNetwork ? networkSettings : [:]) { $1 }.merging(settings) { $1 }
        )
        let cluster = LocalCitus(configuration: configuration, network: hasNetwork ? try NodeNetwork() : nil, logger: logger)
        do {
            for _ in 0...workers { try await cluster.startNode() }
        } catch {
            cluster.stop()
            throw error
        }
        return cluster
    }

    /// One more, which is not registered in any database yet (`createDatabase`, `add`).
    @discardableResult
    package func startNode() async throws -> LocalPostgres {
        var configuration = configuration
        let number = nodes.count
        configuration.directory = directory + "/" + (number == 0 ? "coordinator" : "worker\(number)")
        if let network {
            configuration.settings["listen_addresses"] = network.address(number)
            configuration.networkNamespace = try network.join(number)
        }
        let node = try await LocalPostgres.start(configuration, logger: logger)
        started.withLock { $0.append(node) }
        if let network {
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: node.directory + "/data/pg_hba.conf"))
            try file.seekToEnd()
            try file.write(contentsOf: Data("host all all \(network.range) trust\n".utf8))
            try file.close()
        }
        let connection = try await PostgresConnection.connect(PostgresConfiguration(url: node.socketURL(database: "postgres")))
        // How it connects to itself when shards move.
        try await connection.executeScript("ALTER SYSTEM SET citus.local_hostname = '\(host(of: node))'")
        try await connection.executeScript("SELECT pg_reload_conf()")
        return node
    }

    /// As when its machine fails: its processes send nothing and write nothing any more.
    package func kill(_ node: Int) { nodes[node].stopBlocking(.immediate) }

    /// Starts a node again, where it was.
    package func restart(_ node: Int) async throws {
        let earlier = nodes[node]
        var configuration = earlier.configuration
        configuration.directory = earlier.directory
        configuration.port = earlier.port
        let again = try await LocalPostgres.start(configuration, logger: logger)
        started.withLock { $0[node] = again }
    }

    /// Cuts a node off from the other nodes: packets are lost without an error, as when a router between them fails.
    package func cutNetwork(of node: Int) throws { try network?.cut(node) }
    package func restoreNetwork(of node: Int) throws { try network?.restore(node) }

    private func host(of node: LocalPostgres) -> String {
        guard let network, let number = nodes.firstIndex(where: { $0 === node }) else { return node.socketDirectory }
        return network.address(number)
    }

    /// A database on each node, with the extension, in which the workers are registered with the coordinator; its URL on the coordinator.
    package func createDatabase(_ name: String) async throws -> String {
        for node in nodes { try await createDatabase(name, on: node) }
        let connection = try await connect(to: name)
        _ = try await connection.query("SELECT citus_set_coordinator_host(\(host(of: coordinator)), \(coordinator.port)::integer)")
        for worker in workers { try await add(worker, on: connection) }
        return coordinator.socketURL(database: name)
    }

    /// Makes a node that was started later a worker of a database.
    package func add(_ worker: LocalPostgres, to database: String) async throws {
        try await createDatabase(database, on: worker)
        try await add(worker, on: try await connect(to: database))
    }

    private func createDatabase(_ name: String, on node: LocalPostgres) async throws {
        let connection = try await PostgresConnection.connect(PostgresConfiguration(url: node.socketURL(database: "postgres")))
        try await connection.executeScript("CREATE DATABASE \(name)")
        try await PostgresConnection.connect(PostgresConfiguration(url: node.socketURL(database: name)))
            .executeScript("CREATE EXTENSION citus")
    }

    private func add(_ worker: LocalPostgres, on connection: PostgresConnection) async throws {
        _ = try await connection.query("SELECT citus_add_node(\(host(of: worker)), \(worker.port)::integer)")
    }

    private func connect(to database: String) async throws -> PostgresConnection {
        let url = coordinator.socketURL(database: database)
        return try await PostgresConnection.connect(PostgresConfiguration(url: url, statementTimeout: .seconds(60)))
    }

    package func stop() {
        for node in nodes { node.stopBlocking(.immediate) }
        network?.remove()
    }
}
