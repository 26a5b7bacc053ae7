import Foundation
import LocalPostgres
import Logging
import Postgres
import Synchronization

/// The server that tests use: a private cluster without durability, or the local one that `PUSHWATCH_TEST_DATABASE_URL` names.
final class TestCluster: Sendable {
    private static let template = "pushwatch_test_template_\(getpid())"
    static let migrations = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("sql/migrations").path

    private let makeURL: @Sendable (String) -> String
    /// Runs CREATE and DROP DATABASE one after the other: copying a template locks it.
    private let admin: PostgresConnection
    private let count = Mutex(0)

    private init(_ makeURL: @escaping @Sendable (String) -> String) async throws {
        self.makeURL = makeURL
        let url = makeURL("postgres")
        try LocalHostGuard.check(url)
        admin = try await PostgresConnection.connect(PostgresConfiguration(url: url, statementTimeout: .seconds(300)))
    }

    static func start() async throws -> TestCluster {
        let cluster = try await connect()
        try await cluster.makeTemplate()
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
        runningCluster.withLock { $0 = server }
        stopRunningClusterAtExit()
        return try await TestCluster { server.socketURL(database: $0) }
    }

    private func makeTemplate() async throws {
        try await admin.executeScript("DROP DATABASE IF EXISTS \(TestCluster.template)")
        try await admin.executeScript("CREATE DATABASE \(TestCluster.template) TEMPLATE template0")
        guard FileManager.default.fileExists(atPath: TestCluster.migrations) else { return }
        try await migrate(url(TestCluster.template))
    }

    func url(_ database: String) -> String { makeURL(database) }

    /// A new database; its name.
    func create(migrated: Bool) async throws -> String {
        let number = count.withLock { count in
            count += 1
            return count
        }
        let name = "pushwatch_test_\(getpid())_\(number)"
        let source = migrated ? TestCluster.template : "template0"
        for attempt in 1... {
            do {
                try await admin.executeScript("CREATE DATABASE \(name) TEMPLATE \(source)")
                break
            } catch let error as PostgresError where error.code.rawValue == "55006" && attempt < 50 {
                // Somebody (autovacuum, the migrator's ending session) is connected to the template.
                try await Task.sleep(for: .milliseconds(100))
            }
        }
        return name
    }

    /// A cancelled or failed test still drops its database.
    func drop(_ name: String) async {
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            let admin = admin
            Task.detached {
                try? await admin.executeScript("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
                done.resume()
            }
        }
    }
}
