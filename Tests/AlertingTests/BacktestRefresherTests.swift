import AlertRules
import Foundation
import Postgres
import PushContract
import Synchronization
import TestDatabase
import Testing

@testable import Alerting

@Suite("Backtests for the pages")
struct BacktestRefresherTests {
    private static let now = (Traffic.start + 400).timestamp + .seconds(30)

    private static func entry(age: Int, duration: Int = 1, changedAt: Timestamp? = nil, isEmpty: Bool = false) -> BacktestCache.Entry {
        BacktestCache.Entry(
            span: BacktestSpan(since: Traffic.start, last: Traffic.start),
            historySince: isEmpty ? nil : Traffic.start,
            alerts: [],
            computedAt: now - .seconds(age),
            duration: .seconds(duration),
            changedAt: changedAt
        )
    }

    @Test("due at first, every hour, and when an alert began or ended; never for more than a twentieth of the time")
    func due() {
        func isDue(_ entry: BacktestCache.Entry?, changed: Timestamp? = nil) -> Bool {
            BacktestRefresher.isDue(entry, changedAt: changed, now: Self.now)
        }
        #expect(isDue(nil))
        #expect(!isDue(Self.entry(age: 3_599)) && isDue(Self.entry(age: 3_600)))
        #expect(!isDue(Self.entry(age: 59, isEmpty: true)) && isDue(Self.entry(age: 60, isEmpty: true)), "nothing was stored")
        #expect(isDue(Self.entry(age: 20), changed: Self.now) && !isDue(Self.entry(age: 19), changed: Self.now))
        #expect(isDue(Self.entry(age: 600, changedAt: Self.now), changed: nil), "its alerts were removed")
        #expect(!isDue(Self.entry(age: 600, changedAt: Self.now), changed: Self.now))
        #expect(!isDue(Self.entry(age: 3_600, duration: 181)) && isDue(Self.entry(age: 3_620, duration: 181)))
    }

    @Test("a backtest of what is stored, for the rules in force; a changed rule has none until it was made anew")
    func made() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            try await traffic.add(0..<400, attempts: 100, bad: 0)
            try await traffic.add(200..<260, attempts: 0, bad: 20)
            let backtestCache = BacktestCache()
            let rules = RuleRegistry(rules: [Rules.provider5xx], logger: .silent)
            let service = BacktestRefresher(pool: pool, rules: rules, backtestCache: backtestCache, now: { Self.now }, logger: .silent)
            #expect(backtestCache.entry(of: Rules.provider5xx) == nil)
            var cooldown: [String: Timestamp] = [:]
            await service.refresh(&cooldown)
            let entry = try #require(backtestCache.entry(of: Rules.provider5xx))
            #expect(entry.alerts.count == 1 && entry.alerts[0].resolvedAt != nil)
            #expect(entry.historySince == Traffic.start && entry.span.minutes == 28 * 1_440)
            // The present minute and the one before are not closed yet.
            #expect(entry.span.last == Traffic.start + 398)
            #expect(entry.computedAt == Self.now && entry.changedAt == nil)
            let stricter = Rules.make(
                "ProviderUnavailable",
                .ratio(RatioCondition(reasons: ["provider_5xx"], above: Fraction(6, 100), for: RuleDuration(minutes: 15))),
                by: [.provider]
            )
            #expect(backtestCache.entry(of: stricter) == nil)
        }
    }

    @Test(
        "a look makes what is due: at first all, then what had an alert meanwhile, then a rule whose file changed; the old one is forgotten"
    )
    func looks() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            try await traffic.add(0..<400, attempts: 100, bad: 0)
            try await withRuleFile(above: "5%") { directory, write in
                let receiverRegistry = RuleRegistry(directory: directory, logger: .silent)
                let first = try #require(receiverRegistry.rules.first)
                let backtestCache = BacktestCache()
                let clock = Mutex(Self.now)
                let service = BacktestRefresher(
                    pool: pool,
                    rules: receiverRegistry,
                    backtestCache: backtestCache,
                    now: { clock.withLock { $0 } },
                    logger: .silent
                )
                var cooldown: [String: Timestamp] = [:]
                await service.refresh(&cooldown)
                #expect(backtestCache.entry(of: first)?.alerts == [] && cooldown.isEmpty)
                try await traffic.add(300..<400, attempts: 0, bad: 20)
                clock.withLock { $0 = Self.now + .seconds(1_800) }
                await service.refresh(&cooldown)
                #expect(backtestCache.entry(of: first)?.computedAt == Self.now, "nothing is due")
                try await RuleEvaluator.forTest(pool, [first]).evaluate(minutes: 400)
                await service.refresh(&cooldown)
                #expect(backtestCache.entry(of: first)?.alerts.count == 1)
                try write("25%")
                await service.refresh(&cooldown)
                let changed = try #require(receiverRegistry.rules.first)
                #expect(changed != first && backtestCache.entry(of: changed)?.alerts == [] && backtestCache.entry(of: first) == nil)
            }
        }
    }

    @Test("a rule that cannot be backtested now is left for ten minutes, and the others are made")
    func failure() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            try await traffic.add(0..<10, attempts: 100, bad: 0)
            let backtestCache = BacktestCache()
            let clock = Mutex(Self.now)
            let rules = RuleRegistry(rules: [Rules.tokens, Rules.provider5xx], logger: .silent)
            let service = BacktestRefresher(
                pool: pool,
                rules: rules,
                backtestCache: backtestCache,
                now: { clock.withLock { $0 } },
                logger: .silent
            )
            var cooldown: [String: Timestamp] = [:]
            // Only baselines read it.
            try await pool.execute("ALTER TABLE alertBaselineExclusions RENAME TO hidden")
            await service.refresh(&cooldown)
            #expect(backtestCache.entry(of: Rules.tokens) == nil && backtestCache.entry(of: Rules.provider5xx) != nil)
            #expect(cooldown == [Rules.tokens.version: Self.now])
            try await pool.execute("ALTER TABLE hidden RENAME TO alertBaselineExclusions")
            await service.refresh(&cooldown)
            #expect(backtestCache.entry(of: Rules.tokens) == nil)
            clock.withLock { $0 = Self.now + .seconds(600) }
            await service.refresh(&cooldown)
            #expect(backtestCache.entry(of: Rules.tokens) != nil && cooldown.isEmpty)
        }
    }

    /// An alerts directory with one rule, and how to write it anew.
    private func withRuleFile(
        above: String,
        _ body: (_ directory: String, _ write: (String) throws -> Void) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("alerts-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try FileManager.default.createDirectory(atPath: directory + "/rules", withIntermediateDirectories: true)
        func write(_ above: String) throws {
            let text = """
                groups:
                  - name: test
                    rules:
                      - alert: ProviderUnavailable
                        ratio: { reason: [provider_5xx], above: \(above) }
                        for: 15m
                        by: [provider]
                        labels: { severity: page }
                        annotations: { summary: s, meaning: m, action: a, runbook: "https://example.org/r" }
                """
            try text.write(toFile: directory + "/rules/r.yml", atomically: true, encoding: .utf8)
        }
        try write(above)
        try await body(directory, write)
    }
}
