import Foundation
import Logging
import TestDatabase
import TestSupport
import Testing

@testable import Postgres

@Suite("Behind PgBouncer", .enabled(if: PgBouncer.isInstalled, Comment(rawValue: PgBouncer.absence)))
struct PoolerTests {
    /// So that connections with settings of their own get through, for what a client does that relies on its session.
    private static let lenient = ["ignore_startup_parameters": "options"]

    private func pool(_ url: String, prepares: Bool, connections: Int = 4, looksUpByIndex: Bool = false) -> PostgresPool {
        var configuration = PostgresConfiguration(
            url: url,
            maxConnections: connections,
            statementTimeout: .seconds(9),
            preparesStatements: prepares
        )
        configuration.looksUpByIndex = looksUpByIndex
        return PostgresPool(configuration: configuration, logger: .silent)
    }

    @Test(
        "three clients of many statements share two sessions: each answer is that of its own statement, and none fails",
        arguments: [true, false]
    )
    func ownAnswers(prepares: Bool) async throws {
        try await withDatabaseURL(migrated: false) { database in
            try await PgBouncer.running(before: database, sessions: 2, settings: prepares ? Self.lenient : [:]) { url in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for client in 0..<3 {
                        group.addTask {
                            let pool = pool(url, prepares: prepares)
                            defer { pool.close() }
                            for round in 0..<40 {
                                // Texts of each client's own, and in an order of its own, as programs of several versions have.
                                let number = (round * (client + 3)) % 20
                                let query: Query = "SELECT \(round) + \(raw: "\(client * 1_000 + number)")"
                                let expected = round + client * 1_000 + number
                                #expect(try await pool.query(query)[0].decode(Int.self) == expected)
                                let inside = try await pool.withTransaction { try await $0.query(query)[0].decode(Int.self) }
                                #expect(inside == expected)
                                let together = try await pool.performTransaction { connection in
                                    try connection.pipeline([query, query])
                                    return try connection.query(query)[0].decode(Int.self)
                                }
                                #expect(together == expected)
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }

    private static let expression = """
        concat_ws(' ', current_setting('statement_timeout'), current_setting('timezone'),
            current_setting('idle_in_transaction_session_timeout'), current_setting('enable_seqscan'))
        """
    private static let settings: Query = "SELECT \(raw: expression)"
    private static let ours = "9s UTC 1min off"

    @Test("our settings are in force in each kind of call, and none is left in the session")
    func settings() async throws {
        try await withDatabaseURL(migrated: false) { database in
            try await PgBouncer.running(before: database, sessions: 1, settings: Self.lenient) { url in
                let owner = pool(database, prepares: true, connections: 1)
                defer { owner.close() }
                try await owner.execute("CREATE TABLE said (text text DEFAULT 'unset')")
                // The database's own zone is another, so that ours is seen to end.
                try await owner.execute("ALTER DATABASE \(raw: String(url.split(separator: "/").last!)) SET timezone = 'America/New_York'")
                let pool = pool(url, prepares: false, looksUpByIndex: true)
                defer { pool.close() }
                func ask(_ what: String, _ body: () async throws -> String) async throws {
                    #expect(try await body() == Self.ours, "\(what)")
                    // A client that sets nothing, in the one session that there is.
                    let other = self.pool(url, prepares: true, connections: 1)
                    defer { other.close() }
                    let left = try await other.query(Self.settings)[0].decode(String.self)
                    #expect(left == "0 America/New_York 0 on", "\(what)")
                }
                let settings = Self.settings
                try await ask("a statement") { try await pool.query(settings)[0].decode(String.self) }
                try await ask("a transaction") { try await pool.withTransaction { try await $0.query(settings)[0].decode(String.self) } }
                try await ask("one that begins otherwise") {
                    try await pool.withTransaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL work_mem = '1MB'") {
                        #expect(try await $0.query("SHOW work_mem")[0].decode(String.self) == "1MB")
                        #expect(try await $0.query("SHOW transaction_isolation")[0].decode(String.self) == "repeatable read")
                        return try await $0.query(settings)[0].decode(String.self)
                    }
                }
                try await ask("one hop") { try await pool.performTransaction { try $0.query(settings)[0].decode(String.self) } }
                try await ask("a pipeline") {
                    try await pool.withConnection { connection in
                        try await connection.perform { try $0.pipeline(["TRUNCATE said", "INSERT INTO said \(settings)"]) }
                    }
                    return try await owner.query("SELECT text FROM said")[0].decode(String.self)
                }
                try await ask("a pipeline that opens a transaction") {
                    try await pool.withConnection { connection in
                        try await connection.perform { connection in
                            try connection.pipeline(["BEGIN", "SELECT 1"])
                            let said = try connection.query(settings)[0].decode(String.self)
                            try connection.executeScript("COMMIT")
                            return said
                        }
                    }
                }
                try await ask("COPY") {
                    try await owner.execute("TRUNCATE said")
                    try await owner.execute("ALTER TABLE said ADD COLUMN settings text DEFAULT \(raw: Self.expression)")
                    let rows = try await pool.withConnection { try await $0.copyIn("COPY said (text) FROM STDIN", data: Array("x\n".utf8)) }
                    #expect(rows == 1)
                    return try await owner.query("SELECT settings FROM said")[0].decode(String.self)
                }
            }
        }
    }

    @Test("an error in any kind of call leaves the connection usable and no transaction open")
    func errors() async throws {
        try await withDatabaseURL(migrated: false) { database in
            try await PgBouncer.running(before: database, sessions: 1) { url in
                let pool = pool(url, prepares: false, connections: 2)
                defer { pool.close() }
                try await pool.execute("CREATE TABLE items (id integer PRIMARY KEY)")
                try await pool.execute("INSERT INTO items VALUES (\(Int32(1)))")
                let known: Query = "INSERT INTO items VALUES (\(Int32(1)))"
                #expect(await code { try await pool.execute(known) } == .uniqueViolation)
                #expect(await code { try await pool.withTransaction { try await $0.execute(known) } } == .uniqueViolation)
                try await pool.withConnection { connection in
                    let inPipeline = await code { try await connection.perform { try $0.pipeline([known, known]) } }
                    #expect(inPipeline == .uniqueViolation)
                    let inCopy = await code { try await connection.copyIn("COPY items FROM STDIN", data: Array("1\n".utf8)) }
                    #expect(inCopy == .uniqueViolation)
                }
                #expect(try await pool.query("SELECT count(*) FROM items")[0].decode(Int.self) == 1)
            }
        }
    }

    @Test("a statement is cancelled at the server through the pooler as well")
    func cancellation() async throws {
        try await withDatabaseURL(migrated: false) { database in
            try await PgBouncer.running(before: database, sessions: 2) { url in
                let pool = pool(url, prepares: false)
                defer { pool.close() }
                let direct = PostgresPool(configuration: PostgresConfiguration(url: database, maxConnections: 1), logger: .silent)
                defer { direct.close() }
                let active: Query = """
                    SELECT count(*) FROM pg_stat_activity
                    WHERE datname = current_database() AND query = 'SELECT pg_sleep(60)' AND state = 'active'
                    """
                try await pool.withConnection { connection in
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        group.addTask {
                            await #expect(throws: CancellationError.self) { try await connection.executeScript("SELECT pg_sleep(60)") }
                        }
                        try await eventually("it is executed") { try await direct.query(active)[0].decode(Int.self) == 1 }
                        group.cancelAll()
                    }
                    let rows = try await connection.query("SELECT 1")
                    #expect(rows.count == 1)
                    #expect(try await direct.query(active)[0].decode(Int.self) == 0)
                }
            }
        }
    }

    @Test("whether sessions are a connection's own is found out, whatever the pool's size and order")
    func probe() async throws {
        try await withDatabaseURL(migrated: false) { database in
            #expect(try await SessionProbe.look(at: PostgresConfiguration(url: database)) == .own)
            for (sessions, settings) in [(1, [:]), (2, [:]), (20, ["server_round_robin": "1", "min_pool_size": "5"]), (20, Self.lenient)] {
                try await PgBouncer.running(before: database, sessions: sessions, settings: settings) { url in
                    let finding = try await SessionProbe.look(at: PostgresConfiguration(url: url))
                    #expect(finding == .shared, "\(sessions) \(settings)")
                }
            }
            for settings in [[:], Self.lenient] {
                try await PgBouncer.running(before: database, mode: .session, sessions: 8, settings: settings) { url in
                    let finding = try await SessionProbe.look(at: PostgresConfiguration(url: url))
                    #expect(finding == .settingsRefused, "\(settings)")
                }
            }
        }
    }

    @Test("two migrators through the pooler: each migration is applied once")
    func migrators() async throws {
        try await withDatabaseURL(migrated: false) { database in
            try await PgBouncer.running(before: database, sessions: 6) { url in
                let configuration = PostgresConfiguration(url: url, preparesStatements: false)
                let migrator = Migrator(configuration: configuration, directory: "sql/migrations", allowsGaps: true, logger: .silent)
                async let first = migrator.migrate()
                async let second = migrator.migrate()
                let applied = try await first.map(\.version) + second.map(\.version)
                #expect(!applied.isEmpty && Set(applied).count == applied.count)
                #expect(try await migrator.migrate().isEmpty)
            }
        }
    }

    @Test(
        "a migration that runs without a transaction is refused through the pooler, before anything is applied; past it, it has its limit"
    )
    func migrationAlone() async throws {
        try await withDatabaseURL(migrated: false) { database in
            try await withScratch("migrations") { directory in
                try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
                let log = RecordingLog { $0.message == "a table is in use; the file is tried again" }
                func migrate(_ url: String) async throws -> Int {
                    let configuration = PostgresConfiguration(url: url, preparesStatements: false)
                    let limit = Duration.milliseconds(20)
                    return try await Migrator(configuration: configuration, directory: directory, lockTimeout: limit, logger: log.logger)
                        .migrate().count
                }
                func write(_ name: String, _ sql: String) throws {
                    try sql.write(toFile: directory + "/" + name, atomically: true, encoding: .utf8)
                }
                let owner = try await PostgresConnection.connect(PostgresConfiguration(url: database))
                let alone = "-- no-transaction\nALTER TABLE things ADD COLUMN IF NOT EXISTS name text"
                try write("0001_create_things.sql", "CREATE TABLE things (id bigint)")
                try write("0002_extend_things.sql", alone)
                try await PgBouncer.running(before: database, sessions: 2) { url in
                    let refusal = await #expect(throws: MigrationError.self) { try await migrate(url) }
                    #expect(refusal?.kind == .sharedSession && refusal?.message.contains("0002_extend_things.sql") == true)
                    let things = try await owner.query("SELECT to_regclass('things')::text")[0].decode(String?.self)
                    #expect(things == nil)
                    #expect(try await migrate(database) == 2)
                    #expect(try await migrate(url) == 0, "nothing is pending")
                }
                try write("0003_extend_things.sql", alone)
                try await owner.executeScript("BEGIN; LOCK TABLE things")
                async let applied = migrate(database)
                try await eventually("it is logged") { !log.events.isEmpty }
                try await owner.executeScript("COMMIT")
                #expect(try await applied == 1)
            }
        }
    }
}
