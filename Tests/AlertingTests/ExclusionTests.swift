import AlertRules
import Alerting
import Postgres
import PushContract
import TestDatabase
import Testing

@Suite("Leaving an incident out of a baseline")
struct ExclusionTests {
    /// Friday noon to the end of Sunday.
    private static let from = (Traffic.start - 3 * 1440).timestamp
    private static let to = (Traffic.start - 720).timestamp

    @Test(
        "a baseline is trained without an incident that is excluded days later, live and in a backtest, until the exclusion is removed"
    )
    func exclude() async throws {
        try await withDatabase { pool in
            let rises = [(from: -3 * 1440, bad: 30), (from: -720, bad: 1), (from: 0, bad: 8)]
            try await Spike.fill(pool, rises, minutes: 180)
            let clock = ManualClock()
            let evaluator = RuleEvaluator.forTest(pool, [Spike.rule], clock: clock)
            func open(_ minute: Int) async throws -> Int {
                clock.set((Traffic.start + minute).timestamp + .seconds(60))
                try await evaluator.evaluate(minutes: minute)
                return try await AlertStore.open(on: pool).count
            }
            #expect(try await open(90) == 0, "eight are few beside thirty")
            let excluded = ExcludedTime(from: Self.from, to: Self.to, reason: "a broken restore", author: "maria")
            try await ExclusionStore.add(excluded, recording: .test(), on: pool)
            try await ExclusionStore.add(excluded, recording: .test(), on: pool)
            #expect(try await ExclusionStore.all(on: pool) == [excluded])
            #expect(try await open(95) == 1)
            let days = try await pool.query("SELECT day::text, excludedMinutes FROM alertBaselineDays WHERE excludedMinutes > 0 ORDER BY 1")
                .map {
                    try $0.decode((String, Int).self)
                }
            #expect(days.map(\.0) == ["2026-01-02"] && days.map(\.1) == [720], "whole days that are left out have no counts: \(days)")
            let span = BacktestSpan(since: Traffic.start, last: Traffic.start + 179)
            let alerts = try await RuleBacktest(span: span, on: pool).run(Spike.rule).alerts
            #expect(alerts.contains { $0.resolved == nil && $0.fired.startsAt >= Traffic.start - 5 }, "\(alerts)")
            #expect(try await ExclusionStore.remove(from: Self.from, recording: .test(), on: pool) == 1)
            #expect(try await ExclusionStore.remove(from: Self.from, recording: .test(), on: pool) == 0)
            #expect(try await ExclusionStore.all(on: pool).isEmpty)
            _ = try await open(100)
            let left = try await pool.query("SELECT count(*) FROM alertBaselineDays WHERE excludedMinutes > 0 OR day = '2026-01-03'")
            #expect(try left[0].decode(Int.self) == 1, "Saturday is stored again, as it was")
        }
    }
}
