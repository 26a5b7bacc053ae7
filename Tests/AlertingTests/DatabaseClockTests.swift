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
            let notifier = Notifier(
                pool: pool,
                receivers: ReceiverRegistry(fixed: receivers, logger: .silent),
                configuration: NotifierConfiguration(externalURL: "https://push.example.org"),
                logger: .silent
            ) { _ in OutboundResponse(status: 200) }
            #expect(try await notifier.deliverDue() == 1)
            let settled = try await pool.query("SELECT state, settledAt >= createdAt FROM notifications")[0].decode((String, Bool).self)
            #expect(settled == ("delivered", true))
        }
    }
}
