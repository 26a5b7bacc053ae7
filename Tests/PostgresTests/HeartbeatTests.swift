import LocalPostgres
import Logging
import ServiceKit
import TestDatabase
import TestSupport
import Testing

@testable import Postgres

@Suite("The database heartbeat")
struct HeartbeatTests {
    private func withHeartbeat(
        _ settings: String = "",
        _ body: (DatabaseHeartbeat, PostgresConnection) async throws -> Void
    ) async throws {
        try await withDatabaseURL { url in
            var configuration = PostgresConfiguration(url: url, maxConnections: 2, statementTimeout: .seconds(2))
            configuration.callTimeout = .milliseconds(700)
            let admin = try await PostgresConnection.connect(PostgresConfiguration(url: url))
            try await body(DatabaseHeartbeat(pool: PostgresPool(configuration: configuration, logger: .silent), logger: .silent), admin)
        }
    }

    @Test("no fault once a write went through, and none before")
    func works() async throws {
        try await withHeartbeat { heartbeat, admin in
            #expect(await heartbeat.fault() == "nothing was written yet")
            try await heartbeat.beat()
            try await heartbeat.beat()
            #expect(await heartbeat.fault() == nil)
            #expect(try await admin.query("SELECT count(*) FROM instances")[0].decode(Int.self) == 1)
        }
    }

    @Test(
        "while the pool of the writes refuses, as it does for a moment after an outage, that is a fault, whatever other connections can do"
    )
    func refusedWriters() async throws {
        try await withDatabaseURL { url in
            func heartbeat(_ writers: PostgresPool) -> DatabaseHeartbeat {
                DatabaseHeartbeat(
                    pool: PostgresPool(configuration: PostgresConfiguration(url: url, maxConnections: 2), logger: .silent),
                    writers: writers,
                    logger: .silent
                )
            }
            let refused = PostgresPool(configuration: PostgresConfiguration(url: url + "_elsewhere"), logger: .silent)
            let other = heartbeat(refused)
            try await eventually("it is a fault", within: .seconds(30)) {
                try await other.beat()
                _ = try? await refused.ping()
                return await other.fault() != nil
            }
            let writers = PostgresPool(configuration: PostgresConfiguration(url: url), logger: .silent)
            let working = heartbeat(writers)
            try await working.beat()
            try await writers.ping()
            #expect(await working.fault() == nil)
        }
    }

    @Test("a read-only database answers, and is a fault with that reason")
    func readOnly() async throws {
        try await withHeartbeat { heartbeat, admin in
            try await admin.executeScript(
                "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$"
            )
            await #expect(throws: PostgresError.self) { try await heartbeat.beat() }
            #expect(await heartbeat.fault() == "the database is read-only")
        }
    }

    @Test("a lost synchronous quorum is named, leaves one session waiting and not more, and ends with the quorum's return")
    func quorum() async throws {
        try await withScratch("quorum") { directory in
            let settings = LocalPostgresConfiguration(
                directory: directory,
                maxConnections: 20,
                settings: ["wal_level": "replica", "max_wal_senders": "2", "synchronous_commit": "on"]
            )
            let cluster = try await LocalPostgres.start(settings, logger: .silent)
            defer { cluster.stopBlocking(.immediate) }
            try await migrate(cluster.socketURL)
            let admin = try await PostgresConnection.connect(PostgresConfiguration(url: cluster.socketURL))
            var configuration = PostgresConfiguration(url: cluster.socketURL, maxConnections: 2, statementTimeout: .seconds(2))
            configuration.callTimeout = .milliseconds(1500)
            let heartbeat = DatabaseHeartbeat(pool: PostgresPool(configuration: configuration, logger: .silent), logger: .silent)
            try await heartbeat.beat()
            try await admin.executeScript("ALTER SYSTEM SET synchronous_standby_names = 'nowhere'")
            try await admin.executeScript("SELECT pg_reload_conf()")
            var faults: [String?] = []
            while faults.count < 3 {
                if (try? await heartbeat.beat()) == nil { faults.append(await heartbeat.fault()) }
            }
            #expect(faults.allSatisfy { $0?.contains("synchronous standby") == true }, "\(faults)")
            let waiting = try await admin.query("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")[0].decode(Int.self)
            #expect(waiting == 1)
            try await admin.executeScript("ALTER SYSTEM RESET synchronous_standby_names")
            try await admin.executeScript("SELECT pg_reload_conf()")
            try await eventually("the database writes again") { (try? await heartbeat.beat()) != nil }
            #expect(await heartbeat.fault() == nil)
        }
    }

    @Test("that the database cannot be written to is logged once, and once that it can be again; tasks that fail meanwhile log at debug")
    func log() async throws {
        try await withDatabaseURL { url in
            let log = RecordingLog { $0.level > .debug }
            let configuration = PostgresConfiguration(url: url, maxConnections: 1)
            let heartbeat = DatabaseHeartbeat(pool: PostgresPool(configuration: configuration, logger: .silent), logger: log.logger)
            let admin = try await PostgresConnection.connect(PostgresConfiguration(url: url))
            try await heartbeat.beat()
            #expect(log.events.isEmpty)
            try await admin.executeScript("ALTER TABLE instances RENAME TO other")
            for _ in 0..<2 { await #expect(throws: PostgresError.self) { try await heartbeat.beat() } }
            let task = PeriodicService("task", every: .zero, logger: log.logger) {
                withUnsafeCurrentTask { $0?.cancel() }
                throw PostgresError(.connectionFailure, "away")
            }
            try await Task { try await task.run() }.value
            try await admin.executeScript("ALTER TABLE other RENAME TO instances")
            for _ in 0..<2 { try await heartbeat.beat() }
            #expect(
                log.events.map { "\($0.level): \($0.message)" } == [
                    "warning: the database cannot be written to", "notice: the database can be written to again",
                ]
            )
        }
    }

    @Test(
        "what the heartbeat meets, too, is a watched outage; what may concern one task alone is not",
        arguments: [
            ("08006", true), ("57P01", true), ("25006", true), ("53100", true), ("08PW1", false), ("PW001", false), ("57014", false),
            ("42P01", false),
        ]
    )
    func watched(code: String, isWatched: Bool) {
        let error = PostgresError(.init(rawValue: code), "")
        #expect(Logger.Level.error.unlessOutage(error) == (isWatched ? .debug : .error))
    }

    @Test(
        "what is waited for is the fault until something is written, without names",
        arguments: [
            (#"connection to server at "127.0.0.1", port 1 failed: Connection refused"#, "Connection refused"),
            (
                #"connection to server at "db" (10.0.0.1), port 5432 failed: FATAL:  password authentication failed for user "one""#,
                "password authentication failed for user …"
            ),
            (#"could not translate host name "db" to address: unknown"#, "could not translate host name … to address: unknown"),
        ]
    )
    func waiting(message: String, cause: String) async throws {
        try await withHeartbeat { heartbeat, _ in
            heartbeat.waits(because: PostgresError(.connectionFailure, message))
            #expect(await heartbeat.fault() == "the database cannot be reached: \(cause)")
            try await heartbeat.beat()
            #expect(await heartbeat.fault() == nil)
        }
    }

    @Test("a write that takes too long is a fault while it runs")
    func age() {
        var state = HeartbeatState()
        let start = ContinuousClock.now
        state.succeeded(now: start)
        #expect(state.fault(now: start + .seconds(5)) == nil)
        #expect(state.fault(now: start + .seconds(9)) == "the database has not taken a write for 9 s")
    }

    @Test(
        "a failure has its reason, by SQLSTATE",
        arguments: [
            ("53100", "the database cannot write to its disk, which is probably full"), ("25006", "the database is read-only"),
            ("08006", "the database cannot be reached"), ("08PW1", "the database does not answer"),
        ]
    )
    func reasons(code: String, reason: String) {
        #expect(HeartbeatState.reason(PostgresError(.init(rawValue: code), ""), isCommitting: false) == reason)
    }
}
