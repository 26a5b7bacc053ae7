import Foundation
import TestDatabase
import Testing

@testable import Postgres

@Suite("Migrator")
struct MigratorTests {
    private let create = "CREATE TABLE things (id bigint);"
    private let extend = "ALTER TABLE things ADD COLUMN name text; INSERT INTO things VALUES (1, 'a''b; c');"

    @Test("applies what is pending, once, in order, and reports it")
    func applies() async throws {
        try await withMigrations(["0001_create_things.sql": create]) { fixture in
            let pending = try await fixture.migrator.status()
            #expect(pending.map(\.version) == [1])
            #expect(pending[0].appliedAt == nil)
            #expect(try await fixture.migrator.migrate().map(\.name) == ["create_things"])
            try fixture.write("0002_extend_things.sql", extend)
            try fixture.write("README.md", "not a migration")
            #expect(try await fixture.migrator.migrate().map(\.version) == [2])
            #expect(try await fixture.migrator.migrate().isEmpty)
            let status = try await fixture.migrator.status()
            #expect(status.map(\.version) == [1, 2])
            #expect(status.allSatisfy { $0.appliedAt != nil && $0.durationMs != nil })
            #expect(try await fixture.connect().query("SELECT name FROM things")[0].decode(String.self) == "a'b; c")
        }
    }

    @Test("any number of migrators at once apply each file once")
    func concurrent() async throws {
        try await withMigrations(["0001_create_things.sql": create + "SELECT pg_sleep(0.2);", "0002_extend_things.sql": extend]) {
            fixture in
            let applied = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<4 { group.addTask { try await fixture.migrator.migrate().count } }
                return try await group.reduce(0, +)
            }
            #expect(applied == 2)
        }
    }

    @Test("a migrator that another one keeps waiting for too long names that one's session")
    func namedHolder() async throws {
        try await withDatabaseURL { url in
            let other = try await PostgresConnection.connect(PostgresConfiguration(url: url, applicationName: "the other"))
            try await other.executeScript("BEGIN; SELECT name FROM schemaLocks WHERE name = 'migration' FOR UPDATE")
            let migrator = Migrator(
                configuration: PostgresConfiguration(url: url),
                directory: "sql/migrations",
                patience: .milliseconds(50),
                logger: .silent
            )
            let error = await #expect(throws: PostgresError.self) { try await migrator.migrate() }
            #expect(error?.message.contains("\"the other\"") == true, "\(error as Any)")
        }
    }

    @Test("a file that fails is undone whole; the ones before it stay")
    func failure() async throws {
        try await withMigrations(["0001_create_things.sql": create, "0002_break.sql": extend + "SELECT nonsense;"]) { fixture in
            let error = await #expect(throws: MigrationError.self) { try await fixture.migrator.migrate() }
            #expect(error?.kind == .failed)
            #expect(error?.cause?.code.rawValue == "42703")
            #expect(error?.message.contains("0002_break.sql") == true)
            let status = try await fixture.migrator.status()
            #expect(status.map { $0.appliedAt != nil } == [true, false])
            let things = try await fixture.connect().query("SELECT * FROM things")
            #expect(things.isEmpty)
        }
    }

    @Test("a file that ends its transaction itself is refused", arguments: ["COMMIT;", "ROLLBACK;"])
    func transactionControl(statement: String) async throws {
        try await withMigrations(["0001_create_things.sql": create + statement]) { fixture in
            let error = await #expect(throws: MigrationError.self) { try await fixture.migrator.migrate() }
            #expect(error?.kind == .badFile)
        }
    }

    @Test("a file marked no-transaction runs statement by statement")
    func withoutTransaction() async throws {
        let index = """
            -- Builds an index without holding up writers.
            -- no-transaction
            CREATE INDEX CONCURRENTLY IF NOT EXISTS thingsById
                ON things (id);
            CREATE INDEX CONCURRENTLY IF NOT EXISTS thingsById2 ON things (id)
            """
        try await withMigrations(["0001_create_things.sql": create, "0002_index_things.sql": index]) { fixture in
            #expect(try await fixture.migrator.migrate().count == 2)
            let indexes = try await fixture.connect().query("SELECT 1 FROM pg_indexes WHERE tablename = 'things'")
            #expect(indexes.count == 2)
        }
    }

    @Test("a table lock is waited for in short attempts until it is free")
    func lockTimeout() async throws {
        try await withMigrations(["0001_create_things.sql": create]) { fixture in
            try await fixture.migrator.migrate()
            try fixture.write("0002_extend_things.sql", extend)
            let holder = try await fixture.connect()
            try await holder.executeScript("BEGIN; LOCK TABLE things IN ACCESS EXCLUSIVE MODE")
            try await withThrowingTaskGroup(of: Int.self) { group in
                group.addTask { try await fixture.migrator(lockTimeout: .milliseconds(30)).migrate().count }
                // Locked for longer than one attempt.
                try await holder.executeScript("SELECT pg_sleep(0.1); COMMIT")
                #expect(try await group.next() == 1)
            }
        }
    }

    @Test("a file changed after it was applied is refused")
    func changed() async throws {
        try await withMigrations(["0001_create_things.sql": create]) { fixture in
            try await fixture.migrator.migrate()
            try fixture.write("0001_create_things.sql", create + " ")
            try await fixture.expect(.changedFile, mentioning: "0001_create_things.sql")
            try fixture.remove("0001_create_things.sql")
            try fixture.write("0001_make_things.sql", create)
            try await fixture.expect(.changedFile, mentioning: "0001_make_things.sql")
        }
    }

    @Test("an applied file that is missing, and a database newer than the files, are refused")
    func missing() async throws {
        try await withMigrations(["0001_create_things.sql": create, "0002_extend_things.sql": extend]) { fixture in
            try await fixture.migrator.migrate()
            try fixture.remove("0002_extend_things.sql")
            try await fixture.expect(.newerDatabase, mentioning: "0002_extend_things")
            try fixture.write("0002_extend_things.sql", extend)
            try await fixture.connect().execute("DELETE FROM schemaMigrations WHERE version = 1")
            try await fixture.expect(.outOfOrder, mentioning: "0001_create_things.sql")
        }
    }

    @Test("an older program runs on a newer schema whose migrations let it, and takes no rights back; on any other it is refused")
    func olderProgram() async throws {
        try await withMigrations([
            "0001_create_things.sql": create, "0002_extend_things.sql": "-- Oldest program: 0001\n" + extend,
            "roles.sql": "GRANT SELECT ON things TO PUBLIC",
        ]) { fixture in
            try await fixture.migrator.migrate()
            #expect(try await fixture.migrator.programs() == SchemaPrograms(oldest: 1, newest: 2, own: 2))
            // From here on the directory is that of the older program.
            try fixture.remove("0002_extend_things.sql")
            try fixture.write("roles.sql", "REVOKE SELECT ON things FROM PUBLIC")
            #expect(try await fixture.migrator.status().map(\.version) == [1])
            #expect(try await fixture.migrator.migrate().isEmpty)
            #expect(try await fixture.migrator.programs() == SchemaPrograms(oldest: 1, newest: 2, own: 1))
            let rights = try await fixture.connect().query("SELECT has_table_privilege('pg_read_all_stats', 'things', 'SELECT')")
            #expect(try rights[0].decode(Bool.self))
            try await fixture.connect().execute(
                "INSERT INTO schemaMigrations (version, name, checksum, durationMs, oldestProgram) VALUES (3, 'drop_things', '', 0, 3)"
            )
            try await fixture.expect(
                .newerDatabase,
                mentioning: "0003_drop_things, which needs a program that knows migration 0003; this program knows migrations up to 0001"
            )
        }
    }

    @Test("the oldest program of a migration is the number of one", arguments: ["", "x", "0", "2"])
    func oldestProgram(text: String) async throws {
        try await withMigrations(["0001_create_things.sql": "-- Oldest program: \(text)\n" + create]) { fixture in
            try await fixture.expect(.badFile, mentioning: "0001_create_things.sql")
        }
    }

    @Test(
        "numbers are unique and without a gap, names are of one form",
        arguments: [
            (["0001_create_things.sql", "0001_make_things.sql"], MigrationError.Kind.duplicateNumber),
            (["0001_create_things.sql", "0003_extend_things.sql"], .gap),
            (["0002_create_things.sql"], .gap),
            (["1_create_things.sql"], .badName),
            (["0001_create things.sql"], .badName),
            (["0001.sql"], .badName),
        ]
    )
    func names(names: [String], kind: MigrationError.Kind) async throws {
        try await withMigrations(Dictionary(uniqueKeysWithValues: names.map { ($0, create) })) { fixture in
            try await fixture.expect(kind, mentioning: names[names.count - 1])
        }
    }

    @Test("a directory without migrations is named")
    func emptyDirectory() async throws {
        try await withMigrations([:]) { fixture in
            let error = try await #require(throws: MigrationError.self) { try await fixture.migrator.migrate() }
            #expect(error.kind == .unreadableDirectory && error.message.contains("there are no migrations in"))
        }
    }

    @Test("a directory that is not there is named")
    func noDirectory() async throws {
        let migrator = Migrator(configuration: PostgresConfiguration(url: "unused"), directory: "/nowhere/migrations", logger: .silent)
        let error = await #expect(throws: MigrationError.self) { try await migrator.migrate() }
        #expect(error?.kind == .unreadableDirectory)
        #expect(error?.message == "the migrations in /nowhere/migrations cannot be read: No such file or directory")
    }
}

/// An empty database and a directory of migrations for it.
struct MigrationFixture: Sendable {
    let url: String
    let directory: String

    var migrator: Migrator { migrator(lockTimeout: .seconds(3)) }

    func migrator(lockTimeout: Duration) -> Migrator {
        Migrator(configuration: PostgresConfiguration(url: url), directory: directory, lockTimeout: lockTimeout, logger: .silent)
    }

    func connect() async throws -> PostgresConnection { try await .connect(PostgresConfiguration(url: url)) }

    func write(_ name: String, _ sql: String) throws {
        try sql.write(toFile: directory + "/" + name, atomically: true, encoding: .utf8)
    }

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: directory + "/" + name) }

    /// Both `status` and `migrate` refuse, for the same reason.
    func expect(_ kind: MigrationError.Kind, mentioning name: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let refusals = [
            await #expect(throws: MigrationError.self, sourceLocation: sourceLocation) { try await migrator.migrate() },
            await #expect(throws: MigrationError.self, sourceLocation: sourceLocation) { try await migrator.status() },
        ]
        for refusal in refusals {
            #expect(refusal?.kind == kind, sourceLocation: sourceLocation)
            #expect(refusal?.message.contains(name) == true, "\(refusal?.message ?? "")", sourceLocation: sourceLocation)
        }
    }
}

private func withMigrations(_ files: [String: String], _ body: (MigrationFixture) async throws -> Void) async throws {
    try await withDatabaseURL(migrated: false) { url in
        try await withScratch("migrations") { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let fixture = MigrationFixture(url: url, directory: directory)
            for (name, sql) in files { try fixture.write(name, sql) }
            try await body(fixture)
        }
    }
}
