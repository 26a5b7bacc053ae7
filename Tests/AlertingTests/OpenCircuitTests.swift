import AlertRules
import Postgres
import PushContract
import Synchronization
import TestDatabase
import Testing

@testable import Alerting

@Suite("A refused credential, whose pushes are blocked")
struct OpenCircuitTests {
    private static var rule: AlertRule {
        var ratio = RatioCondition(reasons: ["auth"], above: Fraction(1, 100), for: RuleDuration(minutes: 10))
        ratio.minBlocked = 10
        return Rules.make("PushAuthFailing", .ratio(ratio), by: [.provider])
    }

    /// What the sending side says at a minute: refused from minute 5 to 30, with ever more that waits.
    private static func circuits(at minute: Int) -> [CircuitSample] {
        guard minute >= 5 else { return [] }
        return [
            CircuitSample(
                circuitId: 1,
                provider: "apns",
                app: "com.example.scores",
                environment: "production",
                platform: "",
                cause: "InvalidProviderToken",
                since: (Traffic.start + 5).timestamp + .seconds(20),
                closedAt: minute > 30 ? (Traffic.start + 30).timestamp + .seconds(10) : nil,
                waiting: minute > 30 ? 0 : Int64(minute - 4) * 10
            )
        ]
    }

    /// Evaluates at the end of each of these minutes, as somebody who is away in the others would. In `unsampled` ones
    /// the circuits cannot be read.
    private func run(
        _ pool: PostgresPool,
        minutes: [Int],
        attempts: Bool = true,
        unsampled: Range<Int> = 0..<0
    ) async throws -> [Recorded] {
        let traffic = try await Traffic(pool)
        if attempts {
            try await traffic.add(Traffic.start + 5, attempts: 3, bad: 3, reason: "auth", provider: "apns", platform: "ios")
            for minute in 31..<60 {
                try await traffic.add(Traffic.start + minute, attempts: 30, bad: 0, provider: "apns", platform: "ios")
            }
        }
        let clock = ManualClock()
        let current = Mutex(0)
        let evaluator = RuleEvaluator(
            pool: pool,
            rules: RuleRegistry(rules: [Self.rule], logger: .silent),
            receivers: ReceiverRegistry(fixed: [.log], logger: .silent),
            circuits: { _ in
                let minute = current.withLock { $0 }
                if unsampled.contains(minute) { throw PostgresError(.callTimeout, "no answer in time") }
                return Self.circuits(at: minute)
            },
            logger: .silent,
            now: { clock.now }
        )
        for minute in minutes {
            current.withLock { $0 = minute }
            clock.set((Traffic.start + minute).timestamp + .seconds(2))
            try await evaluator.evaluate(through: (Traffic.start + minute).timestamp)
            #expect(Set(evaluator.faults.keys) == (unsampled.contains(minute) ? ["circuits", "PushAuthFailing"] : []))
        }
        return try await Recorded.transitions(pool)
    }

    private static let expected = [
        Recorded(group: "provider=apns", kind: "firing", minute: 14), Recorded(group: "provider=apns", kind: "resolved", minute: 55),
    ]

    @Test("ten minutes after the refusal it fires though nothing is tried, and ends on good attempts; a backtest gives the same")
    func firesAndResolves() async throws {
        try await withDatabase { pool in
            let live = try await run(pool, minutes: Array(0...60))
            #expect(live == Self.expected)
            let alert = try #require(try await AlertStore.resolved(limit: 1, on: pool).first)
            #expect(alert.startsAt == (Traffic.start + 5).timestamp)
            let span = BacktestSpan(since: Traffic.start, last: Traffic.start + 59)
            let result = try await RuleBacktest(span: span, on: pool).run(Self.rule)
            #expect(result.alerts.map { $0.fired.minute - Traffic.start } == [14])
            #expect(result.alerts.map { $0.resolved.map { $0.minute - Traffic.start } } == [55])
        }
    }

    @Test("after a while without evaluation during the refusal no false alert is sent, and the beginning is right")
    func away() async throws {
        try await withDatabase { pool in
            let live = try await run(pool, minutes: Array(0...12) + Array(24...60))
            #expect(live == Self.expected)
        }
        // Away over its end: what was known to wait waited until then.
        try await withDatabase { pool in
            let live = try await run(pool, minutes: Array(0...20) + Array(45...60))
            #expect(live == Self.expected)
        }
    }

    @Test("while circuits cannot be sampled, good attempts of another app resolve nothing; these minutes are evaluated afterwards")
    func unsampled() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            for minute in 15..<31 {
                try await traffic.add(
                    Traffic.start + minute,
                    attempts: 100,
                    bad: 0,
                    provider: "apns",
                    platform: "ios",
                    app: "com.example.other"
                )
            }
            let live = try await run(pool, minutes: Array(0...60), unsampled: 16..<29)
            #expect(live.filter { $0.group == "provider=apns" } == Self.expected)
            #expect(live.count == Self.expected.count + 2, "RulesNotEvaluated fires after twelve minutes, and ends")
        }
    }

    /// Of a group in which nothing at all is attempted.
    private func alertWithoutAttempts(_ pool: PostgresPool) async throws -> Alert {
        _ = try await run(pool, minutes: Array(0...30), attempts: false)
        return try #require(try await AlertStore.open(on: pool).first)
    }

    @Test("a group in which nothing at all is attempted fires, and is not marked as without data")
    func nothingTried() async throws {
        try await withDatabase { pool in
            let alert = try await alertWithoutAttempts(pool)
            #expect(alert.state == .firing && alert.noDataSince == nil)
            #expect(alert.evidence.level == .blocked)
            #expect(alert.evidence.openCircuits?.first?.waiting == 250, "the newest number")
            let summary = try #require(alert.annotations["summary"])
            #expect(
                summary == "apns: "
                    + (OpenCircuit(
                        app: "com.example.scores",
                        environment: "production",
                        cause: "InvalidProviderToken",
                        since: Traffic.start + 5,
                        waiting: 100
                    ).text)
            )
        }
    }

    @Test("the SQL of an alert without attempts shows the deliveries that wait", .enabled(if: Psql.isInstalled, "psql is not installed"))
    func sql() async throws {
        try await withDatabaseURL { url in
            let pool = PostgresPool(configuration: PostgresConfiguration(url: url, maxConnections: 2), logger: .silent)
            defer { pool.close() }
            let alert = try await alertWithoutAttempts(pool)
            let answer = try Psql.run(alert.reproduceSQL, at: url)
            #expect(answer.status == 0, "\(answer.text)")
            #expect(answer.text.contains("com.example.scores|production|auth|InvalidProviderToken"), "\(answer.text)")
            #expect(answer.text.split(separator: "\n").count { $0.contains("InvalidProviderToken") } == 10, "\(answer.text)")
        }
    }
}
