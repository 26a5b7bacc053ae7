import Attempts
import Foundation
import LocalPostgres
import Logging
import Postgres
import Synchronization

/// The server that tests use: a private cluster without durability, or the local one that `PUSHWATCH_TEST_DATABASE_URL` names. Where
/// tables are distributed, a database is one of each node: a template has its metadata and its shards, so a copy of it on each is whole.
final class TestCluster: Sendable {
    private static let template = "pushwatch_test_template_\(getpid())"
    private static let emptyTemplate = "pushwatch_test_empty_\(getpid())"
    static let migrations = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("sql/migrations").path

    private let makeURL: @Sendable (String) -> String
    /// Of each node, the coordinator first. Runs CREATE and DROP DATABASE one after the other: copying a template locks it.
    private let admins: [PostgresConnection]
    /// Those of distributed databases.
    let citus: LocalCitus?
    private let count = Mutex(0)

    private init(citus: LocalCitus? = nil, _ makeURL: @escaping @Sendable (String) -> String) async throws {
        self.citus = citus
        self.makeURL = makeURL
        var admins: [PostgresConnection] = []
        for url in [makeURL("postgres")] + (citus?.workers ?? []).map({ $0.socketURL(database: "postgres") }) {
            try LocalHostGuard.check(url)
            admins.append(try await PostgresConnection.connect(PostgresConfiguration(url: url, statementTimeout: .seconds(300))))
        }
        self.admins = admins
    }

    static func start() async throws -> TestCluster {
        let cluster = try await connect()
        try await cluster.onEachNode("DROP DATABASE IF EXISTS \(template)")
        try await cluster.onEachNode("CREATE DATABASE \(template) TEMPLATE template0")
        if FileManager.default.fileExists(atPath: migrations) { try await migrate(cluster.url(template)) }
        return cluster
    }

    private static func connect() async throws -> TestCluster {
        if let given = ProcessInfo.processInfo.environment["PUSHWATCH_TEST_DATABASE_URL"], !given.isEmpty {
            return try await TestCluster { LocalHostGuard.url(given, database: $0) }
        }
        let directory = try TestDirectories().makeOwn()
        let settings = LocalPostgresConfiguration(
            directory: directory,
            durable: false,
            maxConnections: 300,
            settings: ["deadlock_timeout": "100ms"]
        )
        let server = try await LocalPostgres.start(settings, logger: .silent)
        stopAtExit([server])
        return try await TestCluster { server.socketURL(database: $0) }
    }

    static func startDistributed() async throws -> TestCluster {
        let citus = try await LocalCitus.startForTests()
        stopAtExit(citus.nodes)
        let cluster = try await TestCluster(citus: citus) { citus.coordinator.socketURL(database: $0) }
        _ = try await citus.createDatabase(emptyTemplate)
        try await cluster.close(emptyTemplate)
        try await cluster.copy(emptyTemplate, to: template)
        try await distribute(cluster.url(template))
        try await cluster.close(template)
        return cluster
    }

    func url(_ database: String) -> String { makeURL(database) }

    /// A new database; its name.
    private func create(migrated: Bool) async throws -> String {
        let number = count.withLock { count in
            count += 1
            return count
        }
        let name = "pushwatch_test_\(getpid())_\(number)"
        try await copy(migrated ? TestCluster.template : citus == nil ? "template0" : TestCluster.emptyTemplate, to: name)
        return name
    }

    private func copy(_ source: String, to name: String) async throws {
        for admin in admins {
            for attempt in 1... {
                do {
                    try await admin.executeScript("CREATE DATABASE \(name) TEMPLATE \(source)")
                    break
                } catch let error as PostgresError where error.code.rawValue == "55006" && attempt < 50 {
                    // Somebody (autovacuum, the migrator's ending session) is connected to the template.
                    try await Task.sleep(for: .milliseconds(100))
                }
            }
        }
    }

    /// The extension has a process in each database that was ever used, and a database with one cannot be copied.
    private func close(_ template: String) async throws {
        try await onEachNode("ALTER DATABASE \(template) ALLOW_CONNECTIONS false")
        try await onEachNode("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(template)'")
    }

    private func onEachNode(_ statement: String) async throws {
        for admin in admins { try await admin.executeScript(statement) }
    }

    /// A database for the time of `body`, which gets its name. A time limit of the test itself would also count its wait for the database,
    /// behind those of all other tests.
    func withDatabase<T>(migrated: Bool, _ body: (_ name: String) async throws -> T) async throws -> T {
        let name = try await create(migrated: migrated)
        do {
            let value = try await withTimeLimit(TestEngine.timeLimit) { try await body(name) }
            await drop(name)
            return value
        } catch {
            await drop(name)
            throw error
        }
    }

    /// A cancelled or failed test still drops its database.
    private func drop(_ name: String) async {
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            let admins = admins
            Task.detached {
                for admin in admins { try? await admin.executeScript("DROP DATABASE IF EXISTS \(name) WITH (FORCE)") }
                done.resume()
            }
        }
    }
}
