import CommandLineKit
import Foundation
import LocalPostgres
import Logging
import Postgres
import PushContract

/// The scratch database of a bench.
struct BenchDatabase: Sendable {
    let url: String
    private let local: LocalPostgres?
    private let parent: (url: String, name: String)?
    /// As in production: flushed; checkpoints far enough apart not to fall into a measurement by chance.
    static let settings = [
        "shared_buffers": "1GB", "max_wal_size": "8GB", "min_wal_size": "2GB", "checkpoint_timeout": "30min", "wal_compression": "lz4",
    ]
    /// A new server fills each segment of its WAL with zeros before it writes to it; one that has been running writes to those that it has
    /// used before. So these, of `min_wal_size` together, are used before.
    private static let usedSegments = 128

    /// What `body` measures on such a database, which is removed however that ends.
    ///
    /// - Parameter given: a PostgreSQL to make it in; nil: a private one.
    static func with<Report: Sendable>(
        in given: String?,
        logger: Logger,
        _ body: @escaping @Sendable (BenchDatabase) async throws -> Report
    ) async throws -> Report {
        try await BenchCommand.untilInterrupted {
            // In a task of its own, which is not cancelled: a cluster that is half made could not be removed.
            let database = try await Task { try await make(in: given, logger: logger) }.value
            do {
                try Task.checkCancellation()
                try await database.useSegments()
                let report = try await body(database)
                await database.remove()
                return report
            } catch {
                await database.remove()
                throw error
            }
        }
    }

    private static func make(in given: String?, logger: Logger) async throws -> BenchDatabase {
        let name = "pushwatch_bench_\(getpid())"
        Terminal.note("making a scratch database")
        if let given {
            guard var parts = URLComponents(string: given) else { throw CommandFailure.environment("--database is not a URL") }
            let connection = try await PostgresConnection.connect(PostgresConfiguration(url: given))
            try await connection.executeScript("CREATE DATABASE \(name)")
            parts.path = "/" + name
            return BenchDatabase(url: parts.string ?? given, local: nil, parent: (given, name))
        }
        let directory = NSTemporaryDirectory() + name
        let isNew = !FileManager.default.fileExists(atPath: directory)
        do {
            let local = try await LocalPostgres.start(LocalPostgresConfiguration(directory: directory, settings: settings), logger: logger)
            return BenchDatabase(url: local.socketURL, local: local, parent: nil)
        } catch {
            if isNew { try? FileManager.default.removeItem(atPath: directory) }
            throw error
        }
    }

    private func useSegments() async throws {
        guard local != nil else { return }
        let connection = try await PostgresConnection.connect(PostgresConfiguration(url: url))
        try await connection.executeScript(
            """
            DO $$ BEGIN
                FOR segment IN 1..\(Self.usedSegments) LOOP
                    PERFORM pg_logical_emit_message(false, 'bench', '');
                    PERFORM pg_switch_wal();
                END LOOP;
            END $$;
            """
        )
        try await connection.executeScript("CHECKPOINT")
    }

    private func remove() async {
        if let local {
            local.stopBlocking(.immediate)
            try? FileManager.default.removeItem(atPath: local.directory)
        }
        guard let parent else { return }
        // In a task of its own: a command that is cancelled leaves nothing behind all the same.
        await Task {
            guard let connection = try? await PostgresConnection.connect(PostgresConfiguration(url: parent.url)) else { return }
            try? await connection.executeScript("DROP DATABASE \(parent.name) WITH (FORCE)")
        }.value
    }
}
