import Postgres
import PushContract
import TestDatabase
import TestSupport
import Testing

@testable import Attempts

@Suite("The analysts' watchdog")
struct AnalystWatchdogTests {
    static let cases: [(AnalystSession, AnalystPolicy.Verdict)] = [
        (AnalystSession(activity: .idle, statementAge: .seconds(9999), transactionAge: .zero), .leave),
        (AnalystSession(activity: .active, statementAge: .seconds(60), transactionAge: .seconds(60)), .leave),
        (AnalystSession(activity: .active, statementAge: .seconds(61), transactionAge: .seconds(61)), .cancel(.statementTooLong)),
        (AnalystSession(activity: .active, statementAge: .seconds(71), transactionAge: .seconds(71)), .terminate(.statementTooLong)),
        (AnalystSession(activity: .active, statementAge: .seconds(1), transactionAge: .seconds(121)), .cancel(.transactionTooLong)),
        (AnalystSession(activity: .active, statementAge: .seconds(1), transactionAge: .seconds(131)), .terminate(.transactionTooLong)),
        (AnalystSession(activity: .idleInTransaction, statementAge: .seconds(119), transactionAge: .seconds(119)), .leave),
        (AnalystSession(activity: .idleInTransaction, transactionAge: .seconds(121)), .terminate(.transactionTooLong)),
        (AnalystSession(activity: .active, statementAge: .seconds(5), xminAge: 500_001), .cancel(.preventsVacuum)),
        (AnalystSession(activity: .idleInTransaction, xminAge: 500_001), .terminate(.preventsVacuum)),
        (AnalystSession(activity: .active, statementAge: .seconds(3), blockingFor: .seconds(3)), .cancel(.blocksOthers)),
        (AnalystSession(activity: .idleInTransaction, blockingFor: .seconds(3)), .terminate(.blocksOthers)),
        (AnalystSession(activity: .idle, blockingFor: .seconds(3)), .terminate(.blocksOthers)),
    ]

    @Test("what is done about a session follows from its ages alone", arguments: cases.indices)
    func verdicts(_ index: Int) {
        let (session, verdict) = AnalystWatchdogTests.cases[index]
        #expect(AnalystPolicy().verdict(on: session) == verdict)
    }

    @Test("a running statement is cancelled and the session lives; one idle in a transaction is ended; others are left alone")
    func sessions() async throws {
        try await withAnalysts { store in
            let (busy, idling, resting, ours) = (
                try await store.connect(), try await store.connect(), try await store.connect(),
                try await PostgresConnection.connect(PostgresConfiguration(url: store.url))
            )
            try await idling.executeScript("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM notificationDeliveryAttempts")
            try await ours.executeScript("BEGIN; SELECT 1 FROM notificationDeliveryAttempts")
            _ = try await resting.query("SELECT 1")
            try await busy.executeScript("SET statement_timeout = 0")
            var policy = AnalystPolicy()
            policy.statementLimit = .zero
            policy.transactionLimit = .seconds(3600)
            async let sleeping: Void = busy.executeScript("SELECT pg_sleep(60)")
            let watchdog = AnalystWatchdog(pool: store.pool, policy: policy, logger: .silent)
            // The statement may not have reached the server yet at the first look.
            try await eventually("the statement is cancelled") { try await watchdog.look().cancelled > 0 }
            do {
                try await sleeping
                Issue.record("the statement was not cancelled")
            } catch let error as PostgresError {
                #expect(error.code == .queryCancelled)
            }
            _ = try await busy.query("SELECT 1")

            policy.statementLimit = .seconds(3600)
            policy.transactionLimit = .zero
            #expect(try await AnalystWatchdog(pool: store.pool, policy: policy, logger: .silent).look() == .init(terminated: 1))
            await #expect(throws: PostgresError.self) { try await idling.query("SELECT 1") }
            _ = try await resting.query("SELECT 1")
            _ = try await ours.query("SELECT 1")
        }
    }

    @Test("an analyst whose open transaction keeps a partition from being dropped is ended, and the drop goes on")
    func blocking() async throws {
        try await withAnalysts { store in
            let idling = try await store.connect()
            try await idling.executeScript("BEGIN; SELECT 1 FROM notificationDeliveryAttempts")
            var policy = AnalystPolicy()
            policy.blockingLimit = .zero
            let watchdog = AnalystWatchdog(pool: store.pool, policy: policy, logger: .silent)
            #expect(try await watchdog.look() == .init())
            let pool = store.pool
            async let dropping: Int = pool.execute("DROP TABLE notificationDeliveryAttempts_20260309")
            var ended = 0
            while ended == 0 { ended += try await watchdog.look().terminated }
            _ = try await dropping
        }
    }

    @Test("a personal login with the role has its limits as well, also one that must SET ROLE", arguments: ["INHERIT", "NOINHERIT"])
    func members(inheritance: String) async throws {
        try await withAnalysts { store in
            let name = "ana_\(UInt32.random(in: 0..<1_000_000))"
            try await store.pool.execute("CREATE ROLE \(raw: name) LOGIN \(raw: inheritance) IN ROLE pushwatch_analyst")
            do {
                let ana = try await store.connect(as: name)
                try await ana.executeScript("SET ROLE pushwatch_analyst; BEGIN; SELECT count(*) FROM notificationDeliveryAttempts")
                let sessions = try await AnalystSessionStatements.list(on: store.pool).sessions
                #expect(sessions.map(\.user) == [name] && sessions.map(\.activity) == [.idleInTransaction])
                var policy = AnalystPolicy()
                policy.transactionLimit = .zero
                #expect(try await AnalystWatchdog(pool: store.pool, policy: policy, logger: .silent).look() == .init(terminated: 1))
            }
            try await store.pool.execute("DROP ROLE \(raw: name)")
        }
    }

    @Test("an expired partition that an analyst reads is dropped later, and nobody waits for that")
    func expiry() async throws {
        try await withAnalysts { store in
            let expired = Sample.now.day - 100
            try await store.attempts.maintenance.ensurePartitions(forDays: [expired])
            let idling = try await store.connect()
            try await idling.executeScript("BEGIN; SELECT 1 FROM notificationDeliveryAttempts")
            try await store.attempts.maintenance.maintain()
            let name = PartitionPlan.fact(day: expired).name.lowercased()
            let stands: Query = "SELECT to_regclass(\(name)) IS NOT NULL"
            #expect(try await store.pool.query(stands)[0].decode(Bool.self))
            _ = try await store.attempts.write([Sample.attempt()])
            try await idling.executeScript("COMMIT")
            try await store.attempts.maintenance.maintain()
            #expect(try await !store.pool.query(stands)[0].decode(Bool.self))
        }
    }

    @Test("an ordinary database user hears that sessions are out of reach, until it may see and end them")
    func rights() async throws {
        try await withAnalysts { store in
            let name = "plain_\(UInt32.random(in: 0..<1_000_000))"
            try await store.pool.execute("CREATE ROLE \(raw: name) LOGIN")
            do {
                let url = store.url + (store.url.contains("?") ? "&" : "?") + "user=\(name)"
                let plain = PostgresPool(configuration: PostgresConfiguration(url: url, maxConnections: 1), logger: .silent)
                defer { plain.close() }
                let analyst = try await store.connect()
                try await analyst.executeScript("BEGIN; SELECT 1 FROM notificationDeliveryAttempts")
                var policy = AnalystPolicy()
                policy.transactionLimit = .zero
                let watchdog = AnalystWatchdog(pool: plain, policy: policy, logger: .silent)
                #expect(try await watchdog.look() == .init(outOfReach: 1))
                try await store.pool.execute("GRANT pg_read_all_stats TO \(raw: name)")
                #expect(try await watchdog.look() == .init(outOfReach: 1))
                try await store.pool.execute("GRANT pg_signal_backend TO \(raw: name)")
                #expect(try await watchdog.look() == .init(terminated: 1))
            }
            try await store.pool.execute("DROP ROLE \(raw: name)")
        }
    }
}
