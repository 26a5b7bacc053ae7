import AlertRules
import Alerting
import HTTPClient
import Postgres
import PushContract
import TestDatabase
import Testing

@Suite("Notifications go by the database's clock")
struct DatabaseClockTests {
    private let receivers = [ReceiverConfiguration.webhook("on-call", url: "http://on-call.example.org")]

    /// Where clocks of machines decided, the page would wait for half a minute, or its escalation would come early.
    @Test("a page is due at once for the notifier of another machine, whatever the evaluating machine's clock shows", arguments: [-30, 30])
    func machineClock(secondsAhead: Int64) async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            try await traffic.add(0..<20, attempts: 100, bad: 1)
            try await traffic.add(20..<35, attempts: 100, bad: 6)
            let evaluator = RuleEvaluator(
                pool: pool,
                rules: RuleRegistry(rules: [Rules.provider5xx], logger: .silent),
                receivers: ReceiverRegistry(fixed: receivers, logger: .silent),
                logger: .silent,
                machineNow: { Timestamp.now() + .seconds(secondsAhead) }
            )
            for minutes in 34...35 { try await evaluator.evaluate(minutes: minutes) }
            let age = try await pool.query(
                """
                SELECT extract(epoch FROM clock_timestamp() - o.nextAttemptAt)::float8,
                       extract(epoch FROM clock_timestamp() - e.escalationSince)::float8
                FROM notifications o JOIN alerts e USING (alertId)
                """
            )
            let (waiting, escalating) = try #require(age.first).decode((Double, Double).self)
            #expect((0..<20).contains(waiting) && (0..<20).contains(escalating))
            #expect(try await notifier(pool).deliverDue() == 1)
            let settled = try await pool.query("SELECT state, settledAt >= createdAt FROM notifications")[0].decode((String, Bool).self)
            #expect(settled == ("delivered", true))
        }
    }

    @Test("a silence, its end and a test notification are in force at once, also where the clock of the machine they are made on is ahead")
    func people() async throws {
        try await withDatabase { pool in
            let ahead = Timestamp.now() + .seconds(30)
            func inForce() async throws -> Int {
                let now = try await pool.query("SELECT clock_timestamp()")[0].decode(Timestamp.self)
                return try await SilenceStore.current(at: now, on: pool).count { $0.isActive(at: now) }
            }
            // A form that was sent twice is one silence.
            let silences = [0, 1].map { seconds in
                AlertSilence(
                    matchers: [SilenceMatcher(name: "provider", value: "fcm")],
                    startsAt: ahead + .seconds(seconds),
                    endsAt: ahead + .seconds(seconds + 600),
                    author: "ada",
                    reason: "planned work",
                    createdAt: ahead + .seconds(seconds)
                )
            }
            for silence in silences { try await SilenceStore.insert(silence, once: true, recording: .test("ada", at: ahead), on: pool) }
            #expect(try await inForce() == 1)
            #expect(try await SilenceStore.end(silences[0].id, recording: .test("ada", at: ahead), on: pool))
            #expect(try await inForce() == 0)
            _ = try await TestNotification.fire(
                receivers: ["on-call"],
                severity: .page,
                recording: .test("ada", at: ahead),
                on: pool
            )
            #expect(try await notifier(pool).deliverDue() == 1)
        }
    }

    private func notifier(_ pool: PostgresPool) -> Notifier {
        Notifier(
            pool: pool,
            receivers: ReceiverRegistry(fixed: receivers, logger: .silent),
            configuration: NotifierConfiguration(externalURL: "https://push.example.org"),
            logger: .silent
        ) { _ in OutboundResponse(status: 200) }
    }
}
