import CommandLineKit
import Foundation
import LocalPostgres
import Logging
import Postgres
import PushContract

/// The scratch database of a bench, removed afterwards.
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

    static func make(in given: String?, logger: Logger) async throws -> BenchDatabase {
        let name = "pushwatch_bench_\(getpid())"
        if let given {
            let connection = try await PostgresConnection.connect(PostgresConfiguration(url: given))
            try await connection.executeScript("CREATE DATABASE \(name)")
            guard var parts = URLComponents(string: given) else { throw CommandFailure.environment("--database is not a URL") }
            parts.path = "/" + name
            return BenchDatabase(url: parts.string ?? given, local: nil, parent: (given, name))
        }
        let configuration = LocalPostgresConfiguration(directory: NSTemporaryDirectory() + name, settings: settings)
        let local = try await LocalPostgres.start(configuration, logger: logger)
        let connection = try await PostgresConnection.connect(PostgresConfiguration(url: local.socketURL))
        try await connection.executeScript(
            """
            DO $$ BEGIN
                FOR segment IN 1..\(usedSegments) LOOP
                    PERFORM pg_logical_emit_message(false, 'bench', '');
                    PERFORM pg_switch_wal();
                END LOOP;
            END $$;
            """
        )
        try await connection.executeScript("CHECKPOINT")
        return BenchDatabase(url: local.socketURL, local: local, parent: nil)
    }

    func remove() async {
        if let local {
            local.stopBlocking(.immediate)
            try? FileManager.default.removeItem(atPath: local.directory)
        }
        guard let parent else { return }
        // In a task of its own: a command whose output failed is cancelled, and leaves nothing behind all the same.
        await Task {
            guard let connection = try? await PostgresConnection.connect(PostgresConfiguration(url: parent.url)) else { return }
            try? await connection.executeScript("DROP DATABASE \(parent.name) WITH (FORCE)")
        }.value
    }
}
