import AlertRules
import Attempts
import Foundation
import Logging
import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Alerting

@Suite("A minute is evaluated when all of it is there")
struct WatermarkTests {
    private static func at(_ minute: Int, seconds: Int64 = 0) -> Timestamp { (Traffic.start + minute).timestamp + .seconds(seconds) }

    @Test("uncommitted outcomes of a slow writer resolve nothing: rules wait for them, and decide as a backtest does")
    func slowWriter() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            let clock = ManualClock()
            let (quick, slow) = (UUID(), UUID())
            let evaluator = RuleEvaluator.forTest(pool, clock: clock)
            for minute in 0..<52 {
                clock.set(Self.at(minute + 1, seconds: 60))
                try await traffic.add(minute..<minute + 1, attempts: 100, bad: 0)
                let isUncommitted = minute >= 41 && minute < 51
                if minute >= 20, !isUncommitted {
                    // All of its uncommitted outcomes are written at once.
                    let first = minute == 51 ? 41 : minute
                    for late in first...minute { try await traffic.add(Traffic.start + late, attempts: 20, bad: 20) }
                }
                try await HeartbeatStore.record(quick, at: clock.now, on: pool)
                try await HeartbeatStore.record(
                    slow,
                    at: clock.now,
                    uncommittedSince: isUncommitted ? Self.at(41, seconds: 7) : nil,
                    on: pool
                )
                try await evaluator.evaluate()
                let asOf = try #require(try await RuleProgress.all(on: pool).first?.asOf)
                #expect(asOf - Traffic.start == (isUncommitted ? 40 : minute), "minute \(minute)")
            }
            // Of the writer itself receivers are notified, too, by another alert.
            let live = try await Recorded.transitions(pool).filter { $0.group == "provider=fcm" }
            #expect(live.map(\.kind) == ["firing"], "\(live)")
            let span = BacktestSpan(since: Traffic.start, last: Traffic.start + 51)
            let alerts = try await RuleBacktest(span: span, on: pool).run(Rules.provider5xx).alerts
            #expect(alerts.map { $0.firedAt - Traffic.start - 1 } == live.map(\.minute) && alerts.allSatisfy { $0.resolved == nil })
        }
    }

    @Test("rules wait ten minutes at most, and neither for a writer that no longer reports nor for newer uncommitted outcomes")
    func limits() async throws {
        try await withDatabase { pool in
            let clock = ManualClock(Self.at(60))
            let watermark = EvaluationWatermark(
                pool: pool,
                configuration: EvaluatorConfiguration(),
                metrics: EvaluatorMetrics(),
                logger: .silent
            )
            let closed = Self.at(59)
            #expect(try await watermark.read(at: clock.now) == closed)
            let writer = UUID()
            try await HeartbeatStore.record(writer, at: Self.at(60), uncommittedSince: Self.at(59, seconds: 30), on: pool)
            #expect(try await watermark.read(at: clock.now) == closed, "newer than what is closed")
            try await HeartbeatStore.record(writer, at: Self.at(60, seconds: 1), uncommittedSince: Self.at(55), on: pool)
            try await HeartbeatStore.record(UUID(), at: Self.at(60), uncommittedSince: Self.at(57), on: pool)
            #expect(try await watermark.read(at: clock.now) == Self.at(55), "the oldest of any writer, by its newest word")
            try await HeartbeatStore.record(writer, at: Self.at(60, seconds: 2), uncommittedSince: Self.at(0), on: pool)
            #expect(try await watermark.read(at: clock.now) == closed - .seconds(600))
            clock.advance(.seconds(93))
            #expect(try await watermark.read(at: clock.now) == clock.now - .seconds(60))
        }
    }

    @Test("that rules wait for a writer is logged once, and again by an instance that evaluates again after another one did")
    func waitLogged() async throws {
        try await withDatabase { pool in
            _ = try await Traffic(pool)
            let log = RecordingLog { "\($0.message)" == "a writer has uncommitted outcomes; rules wait for them" }
            let clock = ManualClock(Self.at(60))
            let first = RuleEvaluator.forTest(pool, clock: clock, logger: log.logger)
            let second = RuleEvaluator.forTest(pool, clock: clock)
            try await HeartbeatStore.record(UUID(), at: clock.now, uncommittedSince: Self.at(57), on: pool)
            for _ in 1...2 { try await first.evaluate() }
            #expect(log.events.count == 1)
            try await expireLeases(on: pool)
            try await second.evaluate()
            // The second one holds the lease.
            try await first.evaluate()
            #expect(log.events.count == 1)
            try await expireLeases(on: pool)
            for _ in 1...2 { try await first.evaluate() }
            #expect(log.events.count == 2)
        }
    }

    @Test("minutes close by the database's clock: one of the evaluating machine that is slow delays nothing, and is logged once")
    func slowClock() async throws {
        try await withDatabase { pool in
            let log = RecordingLog { $0.level == .error }
            let evaluator = RuleEvaluator(
                pool: pool,
                rules: RuleRegistry(rules: [Rules.provider5xx], logger: .silent),
                receivers: ReceiverRegistry(fixed: [.log], logger: .silent),
                logger: log.logger,
                machineNow: { Timestamp.now() - .seconds(1200) }
            )
            for _ in 1...2 { try await evaluator.evaluate() }
            let asOf = try #require(try await RuleProgress.all(on: pool).first?.asOf)
            // The minute before the last one, or one more at the end of a minute.
            #expect((2...3).contains(Minute(Timestamp.now()) - asOf))
            #expect(log.events.map { "\($0.message)" } == ["the clock of this machine differs from the database's; set it right"])
        }
    }

    @Test("a writer reports at once when its uncommitted outcomes change, and every thirty seconds otherwise")
    func report() {
        let interval = Duration.seconds(30)
        let (then, oldest) = (Self.at(10), Self.at(9))
        #expect(WriterReport().isDue(nil, at: then, interval: interval))
        let quiet = WriterReport(reportedAt: then)
        #expect(!quiet.isDue(nil, at: then + .seconds(29), interval: interval) && quiet.isDue(nil, at: then + interval, interval: interval))
        #expect(quiet.isDue(oldest, at: then + .seconds(1), interval: interval))
        let uncommittedReport = WriterReport(reportedAt: then, uncommittedSince: oldest)
        #expect(uncommittedReport.isDue(nil, at: then + .seconds(1), interval: interval), "nobody need wait any more")
        #expect(!uncommittedReport.isDue(oldest, at: then + .seconds(1), interval: interval))
    }

    @Test("a heartbeat reports the outcomes that its process has not committed for two seconds")
    func heartbeat() async throws {
        try await withDatabase { pool in
            let clock = ManualClock(Self.at(10))
            let uncommitted = UncommittedOutcomes()
            let heart = WriterHeartbeat(pool: pool, uncommitted: uncommitted, logger: .silent, now: { clock.now })
            try await uncommitted.during(Self.at(9, seconds: 50), arrivedAt: Self.at(10)) {
                try await heart.heartbeat()
                #expect(try await HeartbeatStore.oldestUncommitted(at: clock.now, on: pool) == nil, "on its way")
                clock.advance(.seconds(2))
                try await heart.heartbeat()
                #expect(try await HeartbeatStore.oldestUncommitted(at: clock.now, on: pool) == Self.at(9, seconds: 50))
            }
            try await heart.heartbeat()
            #expect(try await HeartbeatStore.oldestUncommitted(at: clock.now, on: pool) == nil)
        }
    }

    @Test("a writer with outcomes uncommitted for five minutes fires an alert, also while rules wait for it; it resolves with their commit")
    func fires() async throws {
        try await withDatabase { pool in
            _ = try await Traffic(pool)
            let clock = ManualClock(Self.at(10))
            let evaluator = RuleEvaluator.forTest(pool, clock: clock)
            let writer = UUID()
            for minute in 10...15 {
                clock.set(Self.at(minute))
                try await HeartbeatStore.record(writer, at: clock.now, uncommittedSince: Self.at(10), on: pool)
                try await evaluator.evaluate()
                #expect(try await AlertStore.open(on: pool).isEmpty == (minute < 15), "minute \(minute)")
            }
            let alert = try #require(try await AlertStore.open(on: pool).first)
            #expect(alert.rule == "EvaluatorDataGap" && alert.startsAt == Self.at(10))
            #expect(alert.annotations["summary"] == "An instance has uncommitted outcomes since 2026-01-05 12:10 UTC that it cannot store")
            _ = try await pool.query(Query(text: alert.reproduceSQL))
            clock.set(Self.at(16))
            try await HeartbeatStore.record(writer, at: clock.now, on: pool)
            try await evaluator.evaluate()
            #expect(try await AlertStore.open(on: pool).isEmpty)
        }
    }
}
