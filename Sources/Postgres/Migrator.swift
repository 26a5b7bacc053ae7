package import Logging
import PushContract
import ServiceKit

/// Applies the numbered `.sql` files of a directory, each once, and refuses when files and database disagree.
///
/// A row lock in a transaction of a connection of its own makes concurrent migrators wait for each other. Each file runs in one transaction
/// together with its record.
package struct Migrator: Sendable {
    private let configuration: PostgresConfiguration
    /// A statement of a migration may take hours on a large table; a server that hangs is left at last.
    private static let callTimeout: Duration = .seconds(6 * 3600)
    private let directory: String
    private let lockTimeout: Duration
    private let patience: Duration
    private let allowsGaps: Bool
    private let logger: Logger
    private static let lockRetry = TransactionRetry(
        attempts: 10,
        backoff: Backoff(base: .milliseconds(200), minimum: .milliseconds(100), cap: .milliseconds(1500))
    ) { $0.code == .lockNotAvailable }

    /// - Parameter lockTimeout: how long a statement waits for a table lock before the file is undone and tried again; a waiting
    ///   migration would otherwise hold up every query behind it.
    /// - Parameter patience: how long another migrator is waited for; then the error names its session.
    /// - Parameter allowsGaps: for test databases on a branch whose numbers run ahead of one that is not merged yet; never elsewhere.
    package init(
        configuration: PostgresConfiguration,
        directory: String,
        lockTimeout: Duration = .seconds(3),
        patience: Duration = .seconds(600),
        allowsGaps: Bool = false,
        logger: Logger
    ) {
        var direct = configuration
        direct.statementTimeout = .zero
        direct.callTimeout = Migrator.callTimeout
        direct.applicationName = "pushwatch migrate"
        self.configuration = direct
        self.directory = directory
        self.lockTimeout = lockTimeout
        self.patience = patience
        self.allowsGaps = allowsGaps
        self.logger = logger
    }

    /// Every migration with whether it was applied. Changes nothing; throws on the same disagreements as `migrate`.
    package func status() async throws -> [MigrationStatus] {
        let (files, applied) = try await read()
        _ = try MigrationPlan(files: files, applied: applied)
        let done = Dictionary(applied.map { ($0.version, $0) }) { first, _ in first }
        return files.map {
            let row = done[$0.version]
            return MigrationStatus(version: $0.version, name: $0.name, appliedAt: row?.appliedAt, durationMs: row?.durationMs)
        }
    }

    /// Which programs may run on the database once nothing is pending. Throws when this one may not.
    package func programs() async throws -> SchemaPrograms {
        let (files, applied) = try await read()
        return try MigrationPlan(files: files, applied: applied).programs
    }

    private func read() async throws -> (files: [Migration], applied: [AppliedMigration]) {
        let files = try MigrationDirectory.load(directory, allowsGaps: allowsGaps)
        var quick = configuration
        quick.callTimeout = .seconds(10)
        return (files, try await applied(try await PostgresConnection.connect(quick)))
    }

    /// Applies what is pending, in order; returns what was applied now. On an error the earlier files stay applied.
    @discardableResult
    package func migrate() async throws -> [MigrationStatus] {
        try await checkSession()
        let files = try MigrationDirectory.load(directory, allowsGaps: allowsGaps)
        let connection = try await PostgresConnection.connect(configuration)
        // The lock goes with the session: closing the connection, in whatever way we leave, releases it.
        let lockSession = try await lock(connection)
        defer { withExtendedLifetime(lockSession) {} }
        try await connection.executeScript(Migrator.createTable)
        let plan = try MigrationPlan(files: files, applied: try await applied(connection))
        var report: [MigrationStatus] = []
        for migration in plan.pending { report.append(try await apply(migration, connection)) }
        // An older program would take back what the newer one granted.
        if !plan.isNewerDatabase { try await grantRoles(connection) }
        logger.info("migrations are up to date", metadata: ["applied": "\(report.count)", "version": "\(files.last?.version ?? 0)"])
        return report
    }

    /// Without a transaction the time limit for locks is the session's, and a pooler gives that to others. Looked at before anything is
    /// applied, and before the lock takes one of the pooler's sessions.
    private func checkSession() async throws {
        guard !configuration.preparesStatements else { return }
        let (files, applied) = try await read()
        guard let file = try MigrationPlan(files: files, applied: applied).pending.first(where: { !$0.isTransactional }) else { return }
        var own = configuration
        own.preparesStatements = true
        guard try await SessionProbe.look(at: own) != .own else { return }
        throw MigrationError(
            .sharedSession,
            "\(file.fileName) runs without a transaction, and behind a connection pooler would wait for locks without a limit: run "
                + "`pushwatch migrate` with PostgreSQL's own address as `admin.database.url`"
        )
    }

    /// Each time, so that what a migration added is opened too, and what another version granted is taken back.
    private func grantRoles(_ connection: PostgresConnection) async throws {
        guard let sql = MigrationDirectory.roles(in: directory) else { return }
        try await retryingLockTimeouts(MigrationDirectory.roles, connection) {
            try await connection.withTransaction { _ in
                try await connection.executeScript("SET LOCAL lock_timeout = \(lockTimeout.microseconds / 1000)")
                for statement in SQLStatements.split(sql) { try await connection.executeScript(statement) }
            }
        }
    }

    /// The connection whose transaction holds the lock.
    private func lock(_ connection: PostgresConnection) async throws -> PostgresConnection {
        // Two that find no table make it at the same time, and one of them fails.
        let made = TransactionRetry(attempts: 5) { ["23505", "42710", "42P07", "XX000"].contains($0.code.rawValue) }
        try await made.run { try await connection.executeScript(SchemaLock.createTable) }
        let lockSession = try await PostgresConnection.connect(configuration)
        do {
            try await begin(lockSession, patience: .milliseconds(1))
        } catch let error as PostgresError where error.code == .lockNotAvailable {
            logger.notice("another process is migrating this database; waiting for it", metadata: ["holder": "\(error.message)"])
            try await lockSession.executeScript("ROLLBACK")
            try await begin(lockSession, patience: patience)
        }
        return lockSession
    }

    private func begin(_ lockSession: PostgresConnection, patience: Duration) async throws {
        let limit = patience.microseconds / 1000
        try await lockSession.perform {
            try $0.beginTransaction("BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL lock_timeout = \(limit)")
        }
        try await SchemaLock.acquire(.migration, on: lockSession)
    }

    private func applied(_ connection: PostgresConnection) async throws -> [AppliedMigration] {
        let table = try await connection.query("SELECT to_regclass('schemaMigrations')::text")
        guard try table[0].decode(String?.self) != nil else { return [] }
        // A table from before the column was added has none.
        return try await connection.query(
            """
            SELECT version, name, checksum, appliedAt, durationMs, (to_jsonb(m) ->> 'oldestprogram')::integer
            FROM schemaMigrations m ORDER BY version
            """
        ).map { row in
            let (version, name, checksum, appliedAt, duration, oldest) = try row.decode((Int, String, String, Timestamp, Int, Int?).self)
            return AppliedMigration(
                version: version,
                name: name,
                checksum: checksum,
                appliedAt: appliedAt,
                durationMs: duration,
                oldestProgram: oldest
            )
        }
    }

    private func apply(_ migration: Migration, _ connection: PostgresConnection) async throws -> MigrationStatus {
        let start = ContinuousClock.now
        try await retryingLockTimeouts(migration.fileName, connection) {
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
            try await SchemaLock.acquire(on: transaction, limit: nil)
            // Each alone: where tables are distributed, several in one message are refused.
            for statement in migration.statements { try await connection.executeScript(statement) }
            guard try await connection.perform({ !$0.isIdle }) else {
                throw MigrationError(.badFile, "\(migration.fileName) ends its transaction itself: leave out COMMIT and ROLLBACK")
            }
            try await record(migration, transaction, start: start)
        }
    }

    private func runAlone(_ migration: Migration, _ connection: PostgresConnection, start: ContinuousClock.Instant) async throws {
        try await connection.executeScript("SET lock_timeout = \(lockTimeout.microseconds / 1000)")
        for statement in migration.statements { try await connection.executeScript(statement) }
        try await connection.executeScript("SET lock_timeout = 0")
        try await record(migration, connection, start: start)
    }

    private func record(_ migration: Migration, _ session: some PostgresSession, start: ContinuousClock.Instant) async throws {
        try await session.execute(
            """
            INSERT INTO schemaMigrations (version, name, checksum, durationMs, oldestProgram)
            VALUES (\(migration.version), \(migration.name), \(migration.checksum), \(Migrator.milliseconds(since: start)),
                \(try migration.oldestProgram))
            """
        )
    }

    private func retryingLockTimeouts(_ file: String, _ connection: PostgresConnection, _ body: () async throws -> Void) async throws {
        do {
            try await Migrator.lockRetry.run { error, failures in
                let cause = await LockHolder.named(error, on: connection).message
                logger.notice(
                    "a table is in use; the file is tried again",
                    metadata: ["file": "\(file)", "failures": "\(failures)", "cause": "\(cause)"]
                )
            } _: {
                try await body()
            }
        } catch let error as PostgresError where !error.isConnectionLoss {
            let named = await LockHolder.named(error, on: connection)
            throw MigrationError(.failed, "\(file) failed: \(named)", cause: named)
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
            durationMs bigint NOT NULL,
            oldestProgram integer
        );
        DO $$ BEGIN
            IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'schemaMigrations'::regclass AND attname = 'oldestprogram') THEN
                ALTER TABLE schemaMigrations ADD COLUMN oldestProgram integer;
            END IF;
        END $$
        """
}
