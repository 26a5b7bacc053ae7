import AlertRules
import Alerting
import Attempts
import CommandLineKit
import Foundation
import HTTPClient
import Logging
import Postgres
import PushContract
import ServiceLifecycle
import Synchronization

/// `pushwatch-dev bench alert`: from the close of the minute that crosses a threshold to the receiver.
struct AlertBench {
    struct Report: Encodable {
        var rounds: Int
        var rules: Int
        var p50Milliseconds: Double
        var maxMilliseconds: Double
        var milliseconds: [Double]

        var text: String {
            let sorted = milliseconds.map { String(format: "%.0f", $0) }.joined(separator: " ")
            return "closed minute to receiver, \(rounds) alerts, \(rules) rules in force: "
                + "p50 \(String(format: "%.0f", p50Milliseconds)) ms, max \(String(format: "%.0f", maxMilliseconds)) ms\n\(sorted)"
        }
    }

    private static let alert = "BenchCrossing"
    /// From the preparation of a round to the close of its minute: longer than any pause of evaluator and notifier.
    private static let lead = Duration.seconds(4)

    let database: BenchDatabase
    let rules: [AlertRule]
    let rounds: Int
    let logger: Logger

    func run() async throws -> Report {
        let configuration = PostgresConfiguration(url: database.url, maxConnections: 8, applicationName: "bench alert")
        _ = try await Migrator(configuration: configuration, directory: try ProjectFiles.locate("sql/migrations"), logger: logger).migrate()
        let pool = PostgresPool(configuration: configuration, logger: logger)
        defer { pool.close() }
        try await PartitionMaintenance(pool: pool, logger: logger).maintain()
        let clock = MovedClock()
        let arrivals = Arrivals()
        let sink = WebhookSink(logger: logger) { arrivals.take($0, at: clock.now()) }
        let client = CurlClient(configuration: CurlClientConfiguration())
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await sink.run() }
            defer { tasks.cancelAll() }
            let receivers = ReceiverRegistry(fixed: [.webhook("bench", url: await sink.url(), secret: nil)], logger: logger)
            let evaluator = RuleEvaluator(
                pool: pool,
                rules: RuleRegistry(rules: rules + [Self.rule], logger: logger),
                receivers: receivers,
                logger: logger,
                now: clock.now
            )
            let notifier = Notifier(
                pool: pool,
                receivers: receivers,
                configuration: NotifierConfiguration(externalURL: "http://127.0.0.1"),
                logger: logger,
                now: clock.now,
                send: { try await client.send($0) }
            )
            tasks.addTask { try await evaluator.run() }
            tasks.addTask { try await notifier.run() }
            var times: [Double] = []
            Terminal.note("raising \(rounds) alerts")
            for round in 1...rounds {
                times.append(try await self.round(round, clock, arrivals, evaluator, pool))
                Terminal.progress("\(round) of \(rounds)", isLast: round == rounds)
            }
            times.sort()
            return Report(
                rounds: rounds,
                rules: rules.count,
                p50Milliseconds: times[times.count / 2],
                maxMilliseconds: times.last ?? 0,
                milliseconds: times
            )
        }
    }

    /// One app that fails for fifteen minutes, of which the newest is about to close. Milliseconds from its close to the receiver.
    private func round(
        _ round: Int,
        _ clock: MovedClock,
        _ arrivals: Arrivals,
        _ evaluator: RuleEvaluator,
        _ pool: PostgresPool
    ) async throws -> Double {
        let closes = clock.moveOn(toMinuteAfter: Self.lead)
        let last = Minute(closes) - 2
        let app = "com.example.round\(round)"
        try await write(app, from: last - 60, through: last, failingFrom: last - 14, pool)
        guard clock.now() < closes else {
            throw CommandFailure.check("The machine is too slow: a minute closed before its attempts were written.")
        }
        let arrived = try await arrivals.wait(for: app, within: .seconds(60))
        guard let arrived else { throw CommandFailure.check("No alert came of \(app) within a minute. Faults: \(evaluator.faults)") }
        return (arrived - closes).inSeconds * 1000
    }

    /// Attempts with their counts, as a writer leaves them: 100 a minute, half of which fail from `failing` on.
    private func write(
        _ app: String,
        from first: Minute,
        through last: Minute,
        failingFrom failing: Minute,
        _ pool: PostgresPool
    ) async throws {
        try await pool.execute(
            """
            INSERT INTO attemptRollups (minute, provider, platform, eventType, status, reasonCode, app, environment, pushType, writerSlot,
                                        attempts, latencyMsSum, latencyCount)
            SELECT m, 'fcm', 'android', 'send', s.status::pushStatus, s.reason, \(app)::text, 'production', 'alert', 0,
                   CASE WHEN m >= \(failing.timestamp) THEN 50 WHEN s.reason = '' THEN 100 END, 0, 0
            FROM generate_series(\(first.timestamp)::timestamptz, \(last.timestamp)::timestamptz, interval '1 minute') m
            CROSS JOIN (VALUES ('sent', ''), ('failed', 'provider_5xx')) AS s (status, reason)
            WHERE m >= \(failing.timestamp) OR s.reason = ''
            """
        )
        try await pool.execute(
            """
            INSERT INTO notificationDeliveryAttempts (attemptId, uid, platform, provider, tokenHash, eventType, status, reasonCode,
                providerErrorCode, attemptedAt, requestId, app, environment, pushType, appVersion, receivedAt, attemptKey)
            SELECT gen_random_uuid()::text, 'user-' || i, 'android', 'fcm', 'sha256:' || encode(sha256(convert_to('t' || i, 'UTF8')), 'hex'),
                   'send', (CASE WHEN i % 2 = 0 THEN 'sent' ELSE 'failed' END)::pushStatus,
                   (CASE WHEN i % 2 = 1 THEN 'provider_5xx' END)::pushReason, CASE WHEN i % 2 = 1 THEN 'UNAVAILABLE' END,
                   m + i * interval '0.5 second', 'bench', \(app)::text, 'production', 'alert', '1.0', m, gen_random_uuid()
            FROM generate_series(\(failing.timestamp)::timestamptz, \(last.timestamp)::timestamptz, interval '1 minute') m
            CROSS JOIN generate_series(0, 99) i
            """
        )
    }

    /// The contract's second rule, for one app, so that rounds do not meet.
    private static let rule = AlertRule(
        name: alert,
        ruleGroup: "bench",
        condition: .ratio(RatioCondition(reasons: ["provider_5xx"], above: Fraction(5, 100), for: RuleDuration(minutes: 15))),
        by: [.provider, .app],
        severity: .page,
        labels: ["severity": "page"],
        annotations: RuleAnnotations(
            summary: AnnotationTemplate(plain: "Sends fail"),
            action: AnnotationTemplate(plain: "None: this is a measurement."),
            runbook: "runbooks/provider-5xx.md"
        ),
        source: SourcePosition(file: "bench", line: 1, column: 1)
    )

    /// The machine's clock, moved on by what rounds need not wait for.
    private final class MovedClock: Sendable {
        private let shift = Mutex(Duration.zero)

        var now: @Sendable () -> Timestamp { { Timestamp.now() + self.shift.withLock { $0 } } }

        /// Moves on so that a minute begins after `lead`; returns that moment.
        func moveOn(toMinuteAfter lead: Duration) -> Timestamp {
            let now = now()
            let next = (now + lead).flooredToMinute() + .seconds(60)
            shift.withLock { $0 += next - now - lead }
            return next
        }
    }

    /// When the alerts of apps arrived.
    private final class Arrivals: Sendable {
        private struct Body: Decodable {
            struct ReceivedAlert: Decodable {
                var status: String
                var labels: [String: String]
            }

            var alerts: [ReceivedAlert]
        }

        private let times = Mutex<[String: Timestamp]>([:])

        func take(_ body: Data, at moment: Timestamp) {
            guard let body = try? JSONDecoder().decode(Body.self, from: body) else { return }
            for alert in body.alerts where alert.status == "firing" && alert.labels["alertname"] == AlertBench.alert {
                times.withLock { $0[alert.labels["app"] ?? "", default: moment] = moment }
            }
        }

        func wait(for app: String, within limit: Duration) async throws -> Timestamp? {
            let end = ContinuousClock.now + limit
            while ContinuousClock.now < end {
                if let time = times.withLock({ $0[app] }) { return time }
                try await Task.sleep(for: .milliseconds(5))
            }
            return nil
        }
    }
}
