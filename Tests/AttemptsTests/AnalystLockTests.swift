import Postgres
import TestDatabase
import Testing

@testable import Attempts

@Suite("Analysts can neither block nor write")
struct AnalystLockTests {
    @Test("an analyst that takes every advisory lock that Pushwatch ever used stops neither migrations nor partitions nor tokens")
    func advisoryLocks() async throws {
        try await withAnalysts { database in
            let analyst = try await database.connect()
            try await analyst.executeScript("SELECT pg_advisory_lock(7204113), pg_advisory_lock(\(0x7075_7368_7761_7463))")
            try await analyst.executeScript("SELECT pg_advisory_lock(hashtextextended('deviceToken:sha256:1', 0))")
            let start = ContinuousClock.now
            try await database.attempts.maintenance.ensurePartitions(forDays: [Sample.now.day + 2])
            try await migrate(database.url)
            try await database.pool.withTransaction { try await $0.execute(KeyLock.take(.token, ["sha256:1"])) }
            #expect(ContinuousClock.now - start < .seconds(20))
        }
    }

    @Test(
        "what we wait for an analyst cannot lock, and nothing can be written",
        arguments: [
            "SELECT * FROM schemaLocks FOR UPDATE", "SELECT * FROM keyLocks FOR UPDATE", "SELECT slot FROM keyLocks FOR SHARE",
            "BEGIN; LOCK TABLE keyLocks IN ACCESS SHARE MODE", "BEGIN; LOCK TABLE schemaLocks IN SHARE MODE",
            "CREATE TEMPORARY TABLE t (id integer)", "CREATE TABLE t (id integer)",
            "SELECT lo_create(0)", "SELECT lo_from_bytea(0, 'x')", "SELECT lo_creat(-1)",
        ]
    )
    func refused(statement: String) async throws {
        try await withAnalysts { database in
            // As in a database that was made by PostgreSQL 14.
            try await database.pool.execute("GRANT CREATE ON SCHEMA public TO PUBLIC")
            // Rights on a database are not copied with its template.
            try await migrate(database.url)
            let analyst = try await database.connect()
            try await analyst.executeScript("SET default_transaction_read_only = off")
            let error = await #expect(throws: PostgresError.self) { try await analyst.executeScript(statement) }
            #expect(error?.code.rawValue == "42501", "\(error as Any)")
        }
    }

    @Test("fsck reports what analysts may still write, and nothing once it is revoked")
    func reported() async throws {
        try await withAnalysts { database in
            try await database.pool.execute("GRANT EXECUTE ON FUNCTION lo_create(oid) TO PUBLIC")
            try await database.pool.execute("GRANT CREATE ON SCHEMA public TO PUBLIC")
            let context = { try await Fsck([AnalystRightsCheck()], pool: database.pool, pause: .zero, now: Sample.now).run().lines[0].note }
            let note = try await context()
            for what in ["large objects", "temporary tables", "ON SCHEMA public", "temporary files of any size"] {
                #expect(note?.contains(what) == true, "\(what): \(note ?? "")")
            }
            try await migrate(database.url)
            let name = try await database.pool.query("SELECT quote_ident(current_database())")[0].decode(String.self)
            try await database.pool.execute("ALTER ROLE pushwatch_analyst IN DATABASE \(raw: name) SET temp_file_limit = '1GB'")
            #expect(try await context() == nil)
        }
    }

    @Test("a lock of the schema that is not to be had names its holder: pid, user, application, since")
    func named() async throws {
        try await withAnalysts { database in
            let holder = try await PostgresConnection.connect(PostgresConfiguration(url: database.url, applicationName: "the holder"))
            try await holder.withTransaction { transaction in
                try await SchemaLock.acquire(on: transaction)
                let pid = try await transaction.query("SELECT pg_backend_pid()")[0].decode(Int.self)
                let error = await #expect(throws: PostgresError.self) {
                    try await database.pool.withTransaction(retrying: .never) {
                        try await SchemaLock.acquire(on: $0, limit: .milliseconds(100))
                    }
                }
                #expect(error?.code == .lockNotAvailable)
                let text = error?.message ?? ""
                #expect(text.contains("pid \(pid) ") && text.contains("\"the holder\"") && text.contains("since 20"), "\(text)")
            }
        }
    }

    @Test("a table that is locked names the transaction in the way, when a partition cannot be made")
    func tableNamed() async throws {
        try await withAnalysts { database in
            let holder = try await PostgresConnection.connect(PostgresConfiguration(url: database.url, applicationName: "the holder"))
            try await holder.withTransaction { transaction in
                try await transaction.execute("SELECT count(*) FROM alerts")
                let error = await LockHolder.named(PostgresError(.lockNotAvailable, "lock timeout"), on: database.pool)
                #expect(error.message.contains("\"the holder\""), "\(error.message)")
            }
        }
    }
}
