import Foundation
import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Attempts

@Suite("What an analyst may read")
struct AnalystRoleTests {
    @Test("counts, selects and joins work in the contract's spelling, unquoted, also in partitions made later")
    func reads() async throws {
        try await withAnalysts { store in
            try await store.attempts.maintenance.ensurePartitions(forDays: [Sample.now.day + 3])
            _ = try await store.attempts.write([
                Sample.attempt("a", status: .failed, reason: .network), Sample.attempt("b"),
                Sample.attempt("c", at: Sample.now + .seconds(3 * 86_400)),
            ])
            let analyst = try await store.connect()
            let reasons = try await analyst.query("SELECT reasonCode, count(*) FROM notificationDeliveryAttempts GROUP BY 1 ORDER BY 2")
            #expect(try reasons.map { try $0.decode((String?, Int).self).1 } == [1, 2])
            #expect(try await analyst.query("SELECT * FROM notificationDeliveryAttempts").count == 3)
            #expect(try await analyst.query("SELECT * FROM attemptsPerMinute").count == 3)
            #expect(try await analyst.query("SELECT * FROM pushDeliveryStates").isEmpty)
            #expect(try await analyst.query("SELECT userId, tokenState, lastSeenAt FROM devices").isEmpty)
        }
    }

    @Test(
        "tokens, keys, secrets, contents and the ledger are closed",
        arguments: [
            "SELECT pushToken FROM devices", "SELECT pushToStartToken FROM devices", "SELECT unregisterSecrets FROM devices",
            "SELECT * FROM devices", "SELECT devices FROM devices",
            "SELECT pushToken FROM pushDeliveries", "SELECT content FROM pushSends", "SELECT * FROM pushSends", "SELECT id FROM apiKeys",
            "SELECT person FROM sessions", "SELECT person FROM signInTickets", "SELECT 1 FROM attemptLedger",
            "SELECT 1 FROM ledgerState", "SELECT lastError FROM notifications", "SELECT responsePrefix FROM notificationAttempts",
            "SELECT grantAnalystAccess()", "SELECT 1 FROM notificationDeliveryAttempts_20260310",
        ]
    )
    func closed(_ sql: String) async throws {
        try await withAnalysts { store in
            let analyst = try await store.connect()
            let error = await #expect(throws: PostgresError.self) { try await analyst.query(Query(text: sql)) }
            #expect(error?.code.rawValue == "42501")
        }
    }

    @Test("of all columns in the database none that holds a token, key, secret or content is open")
    func openColumns() async throws {
        try await withAnalysts { store in
            let rows = try await store.pool.query(
                """
                SELECT relname::text || '.' || attname::text FROM pg_attribute JOIN pg_class AS relation ON relation.oid = attrelid
                WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm') AND attnum > 0 AND NOT attisdropped
                  AND has_column_privilege('pushwatch_analyst', relation.oid, attnum, 'SELECT')
                """
            )
            let open = try rows.map { try $0.decode(String.self) }
            #expect(open.count > 100)
            // By the column's own name: a table may be about tokens without holding one.
            let suspicious = open.filter { name in
                let column = name.split(separator: ".")[1]
                return ["token", "secret", "key", "content", "body", "hash", "nonce", "password"].contains { column.contains($0) }
            }
            #expect(
                Set(suspicious) == [
                    // Hashes that distinguish tokens, and names that only sound so.
                    "attemptlabels.tokenhash", "notificationdeliveryattempts.tokenhash", "notificationdeliveryattempts.attemptkey",
                    "devices.pushtokenhash",
                    "tokenregistry.tokenhash", "deadtokens.tokenhash",
                    "devices.pushtostarttokenhash", "devices.pushtostarttokenstate", "devices.pushtostarttokencause",
                    "devices.pushtostarttokensince",
                    "devices.tokenstate", "devices.tokenstatecause", "devices.tokenstatesince", "devices.tokenregisteredat",
                    "devicestarttokens.tokenhash", "pushdeliveries.tokenhash", "tokendeactivations.tokenhash", "alerts.groupkey",
                    "alertacceptances.groupkey", "auditentries.keyid", "instances.tokenkeys",
                ]
            )
            let writable = try await store.pool.query(
                """
                SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v')
                  AND has_table_privilege('pushwatch_analyst', oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
                """
            )
            #expect(writable.isEmpty)
        }
    }

    @Test("every table, view and column that is open, and every enum type, has a comment")
    func comments() async throws {
        try await withAnalysts { store in
            let missing = try await store.pool.query(
                """
                WITH relations AS (
                    SELECT oid, relname::text AS name FROM pg_class
                    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm') AND NOT relispartition
                      AND has_any_column_privilege('pushwatch_analyst', oid, 'SELECT')
                      AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e')
                )
                SELECT name FROM relations WHERE obj_description(oid, 'pg_class') IS NULL
                UNION ALL
                SELECT name || '.' || attname::text FROM relations JOIN pg_attribute ON attrelid = oid AND attnum > 0 AND NOT attisdropped
                WHERE has_column_privilege('pushwatch_analyst', oid, attnum, 'SELECT') AND col_description(oid, attnum) IS NULL
                UNION ALL
                SELECT typname::text FROM pg_type
                WHERE typnamespace = 'public'::regnamespace AND typtype = 'e' AND obj_description(oid, 'pg_type') IS NULL
                ORDER BY 1
                """
            ).map { try $0.decode(String.self) }
            #expect(missing.isEmpty, "COMMENT ON is missing next to the CREATE of \(missing)")
        }
    }

    @Test("the role brings its limits, and its transactions are read-only")
    func limits() async throws {
        try await withAnalysts { store in
            let rows = try await store.pool.query(
                "SELECT rolconnlimit, rolcanlogin, rolsuper, rolconfig FROM pg_roles WHERE rolname = 'pushwatch_analyst'"
            )
            let (limit, logsIn, isSuper, settings) = try rows[0].decode((Int32, Bool, Bool, [String]).self)
            #expect(limit == 8 && logsIn && !isSuper)
            #expect(
                Set(settings.map { $0.lowercased() }) == [
                    "default_transaction_read_only=on", "statement_timeout=60s", "idle_in_transaction_session_timeout=30s",
                    "lock_timeout=5s",
                    "timezone=utc",
                ]
            )
            let analyst = try await store.connect()
            let error = await #expect(throws: PostgresError.self) { try await analyst.execute("CREATE TABLE mine (x int)") }
            #expect(error?.code.rawValue == "25006")
        }
    }

    @Test("a migrating user without CREATEROLE gets everything but the role; the grants can be made later")
    func withoutCreateRole() async throws {
        let migration = try String(contentsOf: SQLFiles.migrations.appendingPathComponent("0007_grant_analysts.sql"), encoding: .utf8)
        // The role exists in this cluster already, so the text speaks of another one.
        let role = "pushwatch_analyst_\(UInt32.random(in: 0..<1_000_000))"
        let text = migration.replacing("pushwatch_analyst", with: role)
            .replacing("CREATE TABLE", with: "CREATE TEMPORARY TABLE")
            .replacing("grantAnalystAccess", with: "grantAnalystAccess2").replacing("openToAnalysts", with: "openToAnalysts2")
        try await withAnalysts { store in
            let plain = "plain_\(role)"
            // LOGIN: workers are connected to as the user of the statement.
            try await store.pool.execute("CREATE ROLE \(raw: plain) LOGIN")
            do {
                let connection = try await PostgresConnection.connect(PostgresConfiguration(url: store.url))
                try await connection.executeScript(
                    "GRANT CREATE ON SCHEMA public TO \(plain); GRANT SELECT ON ALL TABLES IN SCHEMA public TO \(plain)"
                )
                try await connection.executeScript("SET ROLE \(plain)")
                try await connection.executeScript(text)
                let rows = try await connection.query("SELECT count(*) FROM pg_roles WHERE rolname = \(role)")
                #expect(try rows[0].decode(Int.self) == 0)
                try await connection.executeScript("RESET ROLE; CREATE ROLE \(role); SELECT grantAnalystAccess2()")
                let granted = try await connection.query("SELECT has_column_privilege(\(role), 'attemptRollups', 'minute', 'SELECT')")
                #expect(try granted[0].decode(Bool.self))
                try await connection.executeScript("DROP OWNED BY \(role), \(plain)")
            }
            try await store.pool.execute("DROP ROLE IF EXISTS \(raw: role), \(raw: plain)")
        }
    }
}

/// The project's SQL in this checkout.
enum SQLFiles {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("sql")

    static let migrations = root.appendingPathComponent("migrations")
    static let queries = root.appendingPathComponent("queries")
    static let grants = root.appendingPathComponent("grants.txt")
}
