import Foundation
package import Logging
import Postgres
import ServiceLifecycle
import Synchronization

/// A private PostgreSQL cluster made from the installed binaries: initialised once, kept across restarts, stopped with us.
///
/// It listens on a Unix socket (open to its own user and root, no password) and on a free port of 127.0.0.1 (password). A cluster
/// left running by a process that was killed is taken over. A directory that Pushwatch did not make is refused. Safe to use from any task.
package final class LocalPostgres: Service, Sendable {
    /// The place actually used; may differ from the configured one (see `LocalPostgresConfiguration.relocates`).
    package let directory: String
    package let port: Int
    let configuration: LocalPostgresConfiguration
    let password: String
    package let socketDirectory: String
    private let dataDirectory: String
    private let lock: Mutex<DirectoryLock?>

    /// Over the Unix socket, for this process.
    package var socketURL: String { socketURL(database: configuration.database) }
    /// Over TCP with the password: what a person gives to psql.
    package var tcpURL: String { "postgresql://pushwatch:\(password)@127.0.0.1:\(port)/\(configuration.database)" }

    package func socketURL(database: String) -> String {
        let host = socketDirectory.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? socketDirectory
        return "postgresql://pushwatch@/\(database)?host=\(host)&port=\(port)"
    }

    /// Makes the cluster if there is none, starts it, and creates the database.
    package static func start(_ configuration: LocalPostgresConfiguration, logger: Logger) async throws -> LocalPostgres {
        let directory = try await ClusterDirectory.prepare(configuration)
        if directory.path != URL(fileURLWithPath: configuration.directory).standardizedFileURL.path {
            logger.notice(
                "the database lives elsewhere: its user cannot enter the state directory",
                metadata: ["directory": "\(directory.path)"]
            )
        }
        guard let lock = DirectoryLock(path: directory.lock) else {
            throw LocalPostgresError(.inUse, "another process runs the database in \(directory.path): stop it, or use another directory")
        }
        let starter = ClusterStarter(
            directory: directory,
            binaries: try await .find(major: directory.majorVersion, in: configuration.binaries),
            configuration: configuration,
            logger: logger
        )
        let settings = try await starter.run()
        let cluster = LocalPostgres(directory: directory, settings: settings, lock: lock)
        do {
            try await cluster.createDatabase()
        } catch {
            await cluster.stop()
            throw error
        }
        logger.info("PostgreSQL is running", metadata: ["directory": "\(directory.path)", "port": "\(cluster.port)"])
        return cluster
    }

    init(directory: ClusterDirectory, settings: ClusterSettings, lock: DirectoryLock) {
        self.directory = directory.path
        port = settings.port
        configuration = settings.configuration
        password = directory.password ?? ""
        socketDirectory = settings.socketDirectory
        dataDirectory = directory.data
        self.lock = Mutex(lock)
    }

    /// Waits for shutdown (or cancellation), then stops the server.
    package func run() async throws {
        try? await gracefulShutdown()
        await stop()
    }

    /// Fast shutdown: open sessions are ended, everything committed is kept. Works in a cancelled task. Harmless when stopped already.
    package func stop() async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [self] in
                stopBlocking(.fast)
                continuation.resume()
            }
        }
    }

    /// The same, blocking the thread: for exit handlers.
    package func stopBlocking(_ mode: ShutdownMode) {
        lock.withLock { held in
            guard held != nil else { return }
            PostmasterStopper(dataDirectory: dataDirectory).stop(mode)
            SocketDirectory(path: socketDirectory).remove()
            held = nil
        }
    }

    private func createDatabase() async throws {
        let connection = try await PostgresConnection.connect(PostgresConfiguration(url: socketURL(database: "postgres")))
        let name = configuration.database
        let known = try await connection.query("SELECT 1 FROM pg_database WHERE datname = \(name)")
        guard known.isEmpty else { return }
        try await connection.executeScript("CREATE DATABASE \"\(name.replacingOccurrences(of: "\"", with: "\"\""))\"")
    }
}
