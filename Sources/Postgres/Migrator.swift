package import Logging
import PushContract
import ServiceKit

/// Applies the numbered `.sql` files of a directory, each once, and refuses when files and database disagree.
///
/// One session-level advisory lock on a connection of its own makes concurrent migrators wait for each other; so `configuration.url`
/// must lead to PostgreSQL itself, not to a pooler in transaction mode. Each file runs in one transaction together with its record.
package struct Migrator: Sendable {
    private let configuration: PostgresConfiguration
    private let directory: String
    private let lockTimeout: Duration
    private let allowsGaps: Bool
    private let logger: Logger
    private static let lockRetry = TransactionRetry(
        limit: .attempts(10),
        backoff: Backoff(base: .milliseconds(200), minimum: .milliseconds(100), cap: .milliseconds(1500))
    ) { $0.code == .lockNotAvailable }
    /// "pushwatc" in ASCII: one lock for all Pushwatch migrators of a database.
    private static let lockKey: Int64 = 0x7075_7368_7761_7463

    /// - Parameter lockTimeout: how long a statement waits for a table lock before the file is undone and tried again; a waiting
    ///   migration would otherwise hold up every query behind it.
    /// - Parameter allowsGaps: for test databases on a branch whose numbers run ahead of one that is not merged yet; never elsewhere.
    package init(
        configuration: PostgresConfiguration,
        directory: String,
        lockTimeout: Duration = .seconds(3),
        allowsGaps: Bool = false,
        logger: Logger
    ) {
        var direct = configuration
        direct.statementTimeout = .zero
        direct.preparesStatements = false
        direct.applicationName = "pushwatch migrate"
        self.configuration = direct
        self.directory = directory
        self.lockTimeout = lockTimeout
        self.allowsGaps = allowsGaps
        self.logger = logger
    }

    /// Every migration with whether it was applied. Changes nothing; throws on the same disagreements as `migrate`.
    package func status() async throws -> [MigrationStatus] {
        let files = try MigrationDirectory.load(directory, allowsGaps: allowsGaps)
        let applied = try await applied(try await PostgresConnection.connect(configuration))
        _ = try MigrationPlan(files: files, applied: applied)
        let done = Dictionary(applied.map { ($0.version, $0) }) { first, _ in first }
        return files.map {
            let row = done[$0.version]
            return MigrationStatus(version: $0.version, name: $0.name, appliedAt: row?.appliedAt, durationMs: row?.durationMs)
        }
    }

    /// Applies what is pending, in order; returns what was applied now. On an error the earlier files stay applied.
    @discardableResult
    package func migrate() async throws -> [MigrationStatus] {
        let files = try MigrationDirectory.load(directory, allowsGaps: allowsGaps)
        let connection = try await PostgresConnection.connect(configuration)
        // The lock goes with the session: closing the connection, in whatever way we leave, releases it.
        try await lock(connection)
        try await connection.executeScript(Migrator.createTable)
        let plan = try MigrationPlan(files: files, applied: try await applied(connection))
        var report: [MigrationStatus] = []
        for migration in plan.pending { report.append(try await apply(migration, connection)) }
        try await grantRoles(connection)
        logger.info("migrations are up to date", metadata: ["applied": "\(report.count)", "version": "\(files.last?.version ?? 0)"])
        return report
    }

    /// Each time, so that what a migration added is opened too, and what another version granted is taken back.
    private func grantRoles(_ connection: PostgresConnection) async throws {
        guard let sql = MigrationDirectory.roles(in: directory) else { return }
        try await retryingLockTimeouts(MigrationDirectory.roles) {
            try await connection.withTransaction { _ in
                try await connection.executeScript("SET LOCAL lock_timeout = \(lockTimeout.microseconds / 1000)")
                try await connection.executeScript(sql)
            }
        }
    }

    private func lock(_ connection: PostgresConnection) async throws {
        let free = try await connection.query("SELECT pg_try_advisory_lock(\(Migrator.lockKey))")
        if try free[0].decode(Bool.self) { return }
        logger.notice("another process is migrating this database; waiting for it")
        try await connection.execute("SELECT pg_advisory_lock(\(Migrator.lockKey))")
    }

    private func applied(_ connection: PostgresConnection) async throws -> [AppliedMigration] {
        let table = try await connection.query("SELECT to_regclass('schemaMigrations')::text")
        guard try table[0].decode(String?.self) != nil else { return [] }
        return try await connection.query("SELECT version, name, checksum, appliedAt, durationMs FROM schemaMigrations ORDER BY version")
            .map { row in
                let (version, name, checksum, appliedAt, duration) = try row.decode((Int, String, String, Timestamp, Int).self)
                return AppliedMigration(version: version, name: name, checksum: checksum, appliedAt: appliedAt, durationMs: duration)
            }
    }

    private func apply(_ migration: Migration, _ connection: PostgresConnection) async throws -> MigrationStatus {
        let start = ContinuousClock.now
        try await retryingLockTimeouts(migration.fileName) {
            if migration.isTransactional {
                try await runInTransaction(migration, connection, start: start)
            } else {
                try await runAlone(migration, connection, start: start)
            }
        }
        let duration = Migrator.milliseconds(since: start)
        logger.notice("applied migration", metadata: ["file": "\(migration.fileName)", "durationMs": "\(duration)"])
        return MigrationStatus(version: migration.version, name: migration.name, appliedAt: .now(), durationMs: duration)
    }

    private func runInTransaction(_ migration: Migration, _ connection: PostgresConnection, start: ContinuousClock.Instant) async throws {
        try await connection.withTransaction { transaction in
            try await connection.executeScript("SET LOCAL lock_timeout = \(lockTimeout.microseconds / 1000)")
            try await SchemaLock.acquire(on: transaction)
            try await connection.executeScript(migration.sql)
            guard try await connection.perform({ !$0.isIdle }) else {
                throw MigrationError(.badFile, "\(migration.fileName) ends its transaction itself: leave out COMMIT and ROLLBACK")
            }
            try await record(migration, transaction, start: start)
        }
    }

    private func runAlone(_ migration: Migration, _ connection: PostgresConnection, start: ContinuousClock.Instant) async throws {
        let statements = try migration.separateStatements()
        try await connection.executeScript("SET lock_timeout = \(lockTimeout.microseconds / 1000)")
        for statement in statements { try await connection.executeScript(statement) }
        try await connection.executeScript("SET lock_timeout = 0")
        try await record(migration, connection, start: start)
    }

    private func record(_ migration: Migration, _ session: some PostgresSession, start: ContinuousClock.Instant) async throws {
        try await session.execute(
            """
            INSERT INTO schemaMigrations (version, name, checksum, durationMs)
            VALUES (\(migration.version), \(migration.name), \(migration.checksum), \(Migrator.milliseconds(since: start)))
            """
        )
    }

    private func retryingLockTimeouts(_ file: String, _ body: () async throws -> Void) async throws {
        do {
            try await Migrator.lockRetry.run { _, failures in
                logger.notice("a table is in use; the file is tried again", metadata: ["file": "\(file)", "failures": "\(failures)"])
            } _: {
                try await body()
            }
        } catch let error as PostgresError where !error.isConnectionLoss {
            throw MigrationError(.failed, "\(file) failed: \(error)", cause: error)
        }
    }

    private static func milliseconds(since start: ContinuousClock.Instant) -> Int {
        Int((ContinuousClock.now - start).microseconds / 1000)
    }

    private static let createTable = """
        CREATE TABLE IF NOT EXISTS schemaMigrations (
            version integer PRIMARY KEY,
            name text NOT NULL,
            checksum text NOT NULL,
            appliedAt timestamptz NOT NULL DEFAULT now(),
            durationMs bigint NOT NULL
        )
        """
}
