import Postgres
import TestDatabase
import TestSupport
import Testing

@Suite("PostgresConnection")
struct ConnectionTests {
    @Test("a cancelled task cancels its statement at the server, and the connection goes on")
    func cancellation() async throws {
        try await withDatabase(migrated: false) { pool in
            try await pool.withConnection { connection in
                for _ in 1...3 {
                    let clock = ContinuousClock.now
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        group.addTask {
                            await #expect(throws: CancellationError.self) { try await connection.query("SELECT pg_sleep(60)") }
                        }
                        try await waitForActivity("SELECT pg_sleep(60)", pool)
                        group.cancelAll()
                    }
                    #expect(ContinuousClock.now - clock < .seconds(30))
                    #expect(try await connection.query("SELECT 1").count == 1)
                }
            }
        }
    }

    @Test("a task cancelled before it begins runs nothing")
    func cancelledBefore() async throws {
        try await withDatabase(migrated: false) { pool in
            try await pool.execute("CREATE TABLE marks (id bigint)")
            try await pool.withConnection { connection in
                await withTaskGroup(of: Void.self) { group in
                    group.cancelAll()
                    for id in 0..<20 {
                        group.addTask { _ = try? await connection.execute("INSERT INTO marks VALUES (\(id))") }
                    }
                }
                // What the others tried works by itself.
                try await connection.execute("INSERT INTO marks VALUES (20)")
                let marks = try await connection.query("SELECT id FROM marks").map { try $0.decode(Int.self) }
                #expect(marks == [20])
            }
        }
    }

    @Test("a statement over its time is 57014, not a cancellation")
    func statementTimeout() async throws {
        try await withDatabaseURL(migrated: false) { url in
            let configuration = PostgresConfiguration(url: url, statementTimeout: .milliseconds(50))
            let connection = try await PostgresConnection.connect(configuration)
            #expect(await code { try await connection.query("SELECT pg_sleep(60)") } == .queryCancelled)
            #expect(try await connection.query("SELECT 1").count == 1)
        }
    }

    @Test("a prepared statement survives a change of its table", arguments: [true, false])
    func changedTable(prepares: Bool) async throws {
        try await withDatabaseURL(migrated: false) { url in
            let connection = try await PostgresConnection.connect(PostgresConfiguration(url: url, preparesStatements: prepares))
            try await connection.executeScript("CREATE TABLE things (id bigint); INSERT INTO things VALUES (1)")
            for _ in 1...3 { try await connection.execute("SELECT * FROM things WHERE id = \(1)") }
            try await connection.executeScript("ALTER TABLE things ADD COLUMN name text DEFAULT 'x'")
            let (id, name) = try await connection.query("SELECT * FROM things WHERE id = \(1)")[0].decode((Int, String).self)
            #expect(id == 1 && name == "x")
            try await connection.executeScript("DEALLOCATE ALL")
            #expect(try await connection.query("SELECT * FROM things WHERE id = \(1)").count == 1)
        }
    }

    @Test("inside a transaction the change of a table costs one more run")
    func changedTableInTransaction() async throws {
        try await withDatabase(migrated: false, maxConnections: 1) { pool in
            try await pool.execute("CREATE TABLE things (id bigint)")
            try await pool.withTransaction { try await $0.execute("SELECT * FROM things") }
            try await pool.execute("ALTER TABLE things ADD COLUMN name text")
            for _ in 1...2 {
                try await pool.withTransaction { transaction in
                    try await transaction.execute("INSERT INTO things VALUES (1)")
                    try await transaction.execute("SELECT * FROM things")
                }
            }
            #expect(try await pool.query("SELECT count(*) FROM things")[0].decode(Int.self) == 2)
        }
    }

    @Test("other unsupported features are not taken for an outdated plan")
    func unsupportedFeature() async throws {
        try await withDatabase(migrated: false) { pool in
            #expect(await code { try await pool.query("SELECT 1 FROM nowhere.nowhere.nowhere.nowhere") } != .cachedPlanChanged)
            try await pool.execute("CREATE TABLE parent (id bigint) PARTITION BY RANGE (id)")
            let error = await code { try await pool.execute("CREATE INDEX CONCURRENTLY ON parent (id)") }
            #expect(error?.rawValue == "0A000")
        }
    }

    @Test("a server that is not there is a connection failure that says where")
    func unreachable() async throws {
        do {
            _ = try await PostgresConnection.connect(PostgresConfiguration(url: "postgresql://127.0.0.1:1/none"))
            Issue.record("connected to nothing")
        } catch let error as PostgresError {
            #expect(error.isConnectionLoss && error.isUnavailable)
            #expect(error.message.contains("127.0.0.1"))
        }
    }

    private func waitForActivity(_ sql: String, _ pool: PostgresPool) async throws {
        try await eventually("the statement runs") {
            try await !pool.query("SELECT 1 FROM pg_stat_activity WHERE query = \(sql) AND state = 'active'").isEmpty
        }
    }
}
