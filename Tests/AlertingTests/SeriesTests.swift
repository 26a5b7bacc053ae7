import AlertRules
import Foundation
import Postgres
import PushContract
import Synchronization
import TestDatabase
import Testing

@testable import Alerting

@Suite("Rules that do not read the rollups: codes, backlog, returning devices")
struct SeriesTests {
    private static let codes = Rules.make("Codes", .firstSight(FirstSightCondition()), by: FirstSightCondition.by, severity: .ticket)
    private static let backlog = Rules.make(
        "Growth",
        .backlog(BacklogCondition(above: 1000, for: RuleDuration(minutes: 15))),
        by: [.provider]
    )
    private static let oldest = Rules.make(
        "Late",
        .queueAge(QueueAgeCondition(above: RuleDuration(minutes: 2), for: RuleDuration(minutes: 5))),
        by: [],
        severity: .ticket
    )

    private func decided(_ result: RuleBacktest.Result) -> [Recorded] {
        result.alerts.flatMap { [$0.fired, $0.resolved].compactMap { $0 } }.map {
            Recorded(group: $0.group.description, kind: $0.kind == .fired ? "firing" : $0.kind.rawValue, minute: $0.minute - Traffic.start)
        }.sorted { $0.minute < $1.minute }
    }

    @Test("a code nobody has seen fires at its first attempt, live and in a backtest; known ones, ignored ones and late repeats do not")
    func firstSight() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool, daysBack: 3)
            try await traffic.addFacts(Traffic.start - 2 * 1440, count: 10)
            try await traffic.addFacts(Traffic.start - 1440, count: 2, reason: "unknown", code: "OLD")
            try await traffic.addFacts(Traffic.start + 5, count: 2, reason: "unknown", code: "OLD")
            try await traffic.addFacts(Traffic.start + 7, count: 3, reason: "unknown", code: "NEW")
            try await traffic.addFacts(Traffic.start + 9, count: 50, reason: "unknown", code: "NEW")
            try await traffic.addFacts(Traffic.start + 9, count: 5, reason: "unknown")
            let evaluator = RuleEvaluator.forTest(pool, [Self.codes])
            // No alert of the installation's first day; `OLD` came a day after the first attempt, so it raises one.
            try await evaluator.evaluate(minutes: 0...20)
            #expect(evaluator.faults == [:])
            let fired = [Recorded(group: "provider=fcm,providerErrorCode=NEW", kind: "firing", minute: 7)]
            #expect(try await Recorded.transitions(pool).filter { $0.group.contains("NEW") } == fired)
            #expect(try await Recorded.transitions(pool).map(\.kind) == ["firing", "resolved", "firing"], "OLD goes after a day")
            // A row that comes late makes it a minute earlier, and no second alert.
            try await traffic.addFacts(Traffic.start + 16, count: 1, reason: "unknown", code: "LATE")
            try await evaluator.evaluate(minutes: 21)
            try await traffic.addFacts(Traffic.start + 15, count: 1, reason: "unknown", code: "LATE")
            try await evaluator.evaluate(minutes: 22...26)
            #expect(try await Recorded.transitions(pool).count { $0.group.contains("LATE") } == 1)
            let span = BacktestSpan(since: Traffic.start - 1440, last: Traffic.start + 25)
            let backtest = try await RuleBacktest(span: span, on: pool).run(Self.codes)
            #expect(Set(decided(backtest).map(\.group)) == Set(try await Recorded.transitions(pool).map(\.group)))
        }
    }

    @Test("the queue is sampled once a minute; growth fires, and a backtest over the samples gives the same")
    func backlog() async throws {
        try await withDatabase { pool in
            _ = try await Traffic(pool)
            let clock = ManualClock()
            let waiting = Mutex<Int64>(50)
            let evaluator = RuleEvaluator(
                pool: pool,
                rules: RuleRegistry(rules: [Self.backlog], logger: .silent),
                receivers: ReceiverRegistry(fixed: [.log], logger: .silent),
                sampling: { _ in
                    [BacklogSample(provider: "fcm", waiting: waiting.withLock { $0 }), BacklogSample(provider: "apns", waiting: 0)]
                },
                logger: .silent,
                now: { clock.now }
            )
            for minute in 0..<70 {
                clock.set((Traffic.start + minute).timestamp + .seconds(2))
                waiting.withLock { $0 = minute < 20 ? 50 : minute < 45 ? $0 + 200 : max(0, $0 - 500) }
                try await evaluator.evaluate(through: (Traffic.start + minute).timestamp)
            }
            #expect(try await pool.query("SELECT count(*) FROM sendBacklogMinutes")[0].decode(Int.self) == 140)
            let live = try await Recorded.transitions(pool)
            #expect(live.map(\.kind) == ["firing", "resolved"] && live.first?.group == "provider=fcm")
            #expect(live.first?.minute == 35)
            let span = BacktestSpan(since: Traffic.start, last: Traffic.start + 68)
            #expect(decided(try await RuleBacktest(span: span, on: pool).run(Self.backlog)) == live)
        }
    }

    @Test("the age of the oldest delivery is sampled with the queue; too old for a time fires, and a backtest gives the same")
    func queueAge() async throws {
        try await withDatabase { pool in
            _ = try await Traffic(pool)
            let clock = ManualClock()
            let oldest = Mutex<Int64?>(nil)
            let evaluator = RuleEvaluator(
                pool: pool,
                rules: RuleRegistry(rules: [Self.oldest], logger: .silent),
                receivers: ReceiverRegistry(fixed: [.log], logger: .silent),
                sampling: { _ in
                    let age = oldest.withLock { $0 }
                    // Of all providers together the oldest counts, not the sum.
                    return [
                        BacklogSample(provider: "fcm", waiting: 5, oldestSeconds: age),
                        BacklogSample(provider: "apns", waiting: 9, oldestSeconds: 70),
                    ]
                },
                logger: .silent,
                now: { clock.now }
            )
            for minute in 0..<40 {
                clock.set((Traffic.start + minute).timestamp + .seconds(2))
                oldest.withLock { $0 = minute < 10 ? nil : minute < 25 ? Int64(minute - 10) * 60 : 60 }
                try await evaluator.evaluate(through: (Traffic.start + minute).timestamp)
            }
            let live = try await Recorded.transitions(pool)
            // In minute 13 it is three minutes old, for the first time more than two.
            #expect(live.map(\.kind) == ["firing", "resolved"] && live.map(\.minute) == [17, 29])
            #expect(live.map(\.group) == ["all", "all"])
            let span = BacktestSpan(since: Traffic.start, last: Traffic.start + 38)
            #expect(decided(try await RuleBacktest(span: span, on: pool).run(Self.oldest)) == live)
        }
    }

    @Test("a silent feed fires live and in a backtest alike, by feed; it ends with the feed's return, and when its match is over")
    func feeds() async throws {
        try await withDatabase { pool in
            _ = try await Traffic(pool)
            let rule = Rules.make("Silent", .feedSilent(FeedSilentCondition(for: RuleDuration(minutes: 5))), by: [.feed], severity: .ticket)
            let clock = ManualClock()
            let minutes = Mutex(0)
            let evaluator = RuleEvaluator(
                pool: pool,
                rules: RuleRegistry(rules: [rule], logger: .silent),
                receivers: ReceiverRegistry(fixed: [.log], logger: .silent),
                feeds: { _ in
                    let minute = minutes.withLock { $0 }
                    let back = FeedSample(feed: "a", subjects: 2, followers: 10..<20 ~= minute ? 7 : 0, silentSeconds: 0)
                    let over = FeedSample(feed: "b", subjects: 1, followers: minute < 12 ? 0 : 900, silentSeconds: 0)
                    // The match of b is over in minute 30.
                    return minute < 30 ? [back, over] : [back]
                },
                logger: .silent,
                now: { clock.now }
            )
            for minute in 0..<45 {
                clock.set((Traffic.start + minute).timestamp + .seconds(2))
                minutes.withLock { $0 = minute }
                try await evaluator.evaluate(through: (Traffic.start + minute).timestamp)
            }
            #expect(evaluator.faults == [:])
            let live = try await Recorded.transitions(pool).sorted { $0.minute < $1.minute }
            #expect(live.map(\.group) == ["feed=a", "feed=b", "feed=a", "feed=b"])
            #expect(live.map(\.kind) == ["firing", "firing", "resolved", "resolved"] && live.map(\.minute) == [14, 16, 22, 32])
            let span = BacktestSpan(since: Traffic.start, last: Traffic.start + 43)
            #expect(decided(try await RuleBacktest(span: span, on: pool).run(rule)) == live)
        }
    }

    @Test("of devices whose token is gone those are counted that register the same app within a day")
    func returns() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool, daysBack: 3)
            let hour = Minute(Traffic.start.index / 60 * 60) - 2 * 1440
            try await traffic.addFacts(hour + 7, count: 60, reason: "token_not_registered", prefix: "a")
            try await traffic.addFacts(hour + 8, count: 30, reason: "token_not_registered", app: "com.example.other", prefix: "b")
            // Twenty come back in time, ten too late, five to another app, and one registered before.
            try await traffic.addFacts(hour + 300, count: 20, eventType: "register", prefix: "a")
            try await traffic.addFacts(hour + 1460, count: 30, eventType: "register", prefix: "a")
            try await traffic.addFacts(hour + 200, count: 5, eventType: "register", prefix: "b")
            let lease = try #require(try await AlertLeaseStore.claim("evaluator", holder: "t", for: .seconds(60), on: pool))
            for _ in 0..<120 { try await ReregistrationSeries(lease: lease, pool: pool).fill(through: Traffic.start) }
            let rows = try await pool.query("SELECT hour, provider, app, devices, reregistered FROM deviceReregistrationHours ORDER BY app")
                .map {
                    let (at, provider, app, devices, reregistered) = try $0.decode((Timestamp, String, String, Int, Int).self)
                    return "\(Minute(at) - hour) \(provider) \(app) \(devices) \(reregistered)"
                }
            #expect(rows == ["0 fcm com.example.app 60 20", "0 fcm com.example.other 30 0"])
        }
    }
}
