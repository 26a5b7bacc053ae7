import Postgres
import PushContract
import TestDatabase
import Testing

@testable import AlertRules
@testable import Alerting

@Suite("Attempts that are reported after their minute was evaluated")
struct LateAttemptTests {
    /// As the writer of attempts records minutes that change late.
    private func report(
        _ traffic: Traffic,
        _ minutes: Range<Int>,
        attempts: Int64,
        bad: Int64,
        provider: String = "fcm",
        slot: Int16 = 1
    ) async throws {
        try await traffic.add(minutes, attempts: attempts, bad: bad, provider: provider)
        for offset in minutes {
            try await traffic.pool.execute(
                """
                INSERT INTO attemptLateMinutes AS late (minute, writerSlot, attempts)
                VALUES (\((Traffic.start + offset).timestamp), \(slot), \(attempts))
                ON CONFLICT (minute, writerSlot) DO UPDATE SET attempts = late.attempts + excluded.attempts
                """
            )
        }
    }

    private func all(_ pool: PostgresPool) async throws -> [Alert] {
        try await AlertStore.firing(rule: Rules.provider5xx.name, since: Traffic.start.timestamp, on: pool)
    }

    private func backtest(_ pool: PostgresPool, minutes: Int) async throws -> [BacktestAlert] {
        let span = BacktestSpan(since: Traffic.start, last: Traffic.start + (minutes - 1))
        return try await RuleBacktest(span: span, on: pool).run(Rules.provider5xx).alerts
    }

    private func waiting(_ pool: PostgresPool) async throws -> Int { try await LateAttemptStore.waiting(on: pool).count }

    @Test("an incident that is found after it ended is a ticket that says so, once, with the minutes that a backtest finds")
    func ended() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            try await traffic.add(0..<140, attempts: 100, bad: 0)
            let evaluator = RuleEvaluator.forTest(pool)
            for minute in 20...100 { try await evaluator.evaluate(minutes: minute) }
            try await report(traffic, 30..<50, attempts: 100, bad: 100)
            for minute in 101...140 { try await evaluator.evaluate(minutes: minute) }
            let alert = try #require(try await all(pool).first)
            let expected = try #require(try await backtest(pool, minutes: 140).first)
            #expect(try await all(pool).count == 1)
            #expect(alert.state == .resolved && alert.severity == .ticket)
            #expect(alert.labels["severity"] == "ticket" && alert.annotations["late"]?.hasPrefix("Found after it had ended") == true)
            #expect(alert.firedAt == expected.firedAt.timestamp && alert.resolvedAt == expected.resolvedAt?.timestamp)
            #expect(try await waiting(pool) == 0)
            #expect(try await LateAttemptStore.count(since: Traffic.start.timestamp, on: pool) == 2000)
            try await report(traffic, 32..<33, attempts: 10, bad: 10)
            for minute in 141...150 { try await evaluator.evaluate(minutes: minute) }
            #expect(try await all(pool) == [alert])
            #expect(try await waiting(pool) == 0)
        }
    }

    @Test("a sender that is fifteen minutes behind raises its page")
    func behind() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            try await traffic.add(0..<60, attempts: 100, bad: 0)
            let evaluator = RuleEvaluator.forTest(pool)
            for minute in 20...60 { try await evaluator.evaluate(minutes: minute) }
            for minute in 61...100 {
                if minute >= 76 { try await report(traffic, minute - 16..<minute - 15, attempts: 100, bad: 50) }
                try await evaluator.evaluate(minutes: minute)
            }
            let alert = try #require(try await AlertStore.open(on: pool).first)
            #expect(alert.severity == .page && alert.startsAt == (Traffic.start + 60).timestamp && alert.annotations["late"] == nil)
            #expect(try await backtest(pool, minutes: 100).map(\.firedAt.timestamp) == [alert.firedAt])
        }
    }

    @Test("good attempts that come late end an alert that a backtest does not find, and take nothing back")
    func contradicted() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            try await traffic.add(0..<30, attempts: 20, bad: 0)
            try await traffic.add(30..<50, attempts: 20, bad: 20)
            let evaluator = RuleEvaluator.forTest(pool)
            for minute in 20...80 { try await evaluator.evaluate(minutes: minute) }
            #expect(try await AlertStore.open(on: pool).count == 1)
            try await report(traffic, 20..<60, attempts: 4000, bad: 0)
            for minute in 81...90 { try await evaluator.evaluate(minutes: minute) }
            #expect(try await all(pool).map(\.resolvedReason) == ["late_attempts"])
            #expect(try await backtest(pool, minutes: 90).isEmpty)
            #expect(try await Recorded.outbox(pool).map(\.kind) == ["firing", "resolved"])
        }
    }

    @Test("an alert that ended too early for what came late is opened again")
    func reopened() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            try await traffic.add(0..<30, attempts: 100, bad: 0)
            try await traffic.add(30..<50, attempts: 100, bad: 50)
            try await traffic.add(50..<200, attempts: 100, bad: 0)
            let evaluator = RuleEvaluator.forTest(pool)
            for minute in 20...80 { try await evaluator.evaluate(minutes: minute) }
            #expect(try await all(pool).map(\.state) == [.resolved])
            try await report(traffic, 50..<80, attempts: 400, bad: 400)
            for minute in 81...86 { try await evaluator.evaluate(minutes: minute) }
            #expect(try await all(pool).map(\.state) == [.firing])
            for minute in 87...200 { try await evaluator.evaluate(minutes: minute) }
            #expect(try await all(pool).map(\.resolvedAt) == backtest(pool, minutes: 200).map { $0.resolvedAt?.timestamp })
        }
    }

    @Test("imports, and minutes more than a day back, are only counted")
    func counted() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool, daysBack: 2)
            try await traffic.add(0..<100, attempts: 100, bad: 0)
            let evaluator = RuleEvaluator.forTest(pool)
            for minute in 20...60 { try await evaluator.evaluate(minutes: minute) }
            try await report(traffic, 20..<40, attempts: 100, bad: 100, slot: 1000)
            try await report(traffic, -1500 ..< -1480, attempts: 100, bad: 100)
            for minute in 61...70 { try await evaluator.evaluate(minutes: minute) }
            #expect(try await all(pool) == [])
            #expect(try await waiting(pool) == 0)
        }
    }

    @Test("what fires in the end, and by what numbers, does not depend on when attempts were reported", arguments: [1, 2] as [UInt64])
    func anyDelay(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let minutes = 150
        let trace = (0..<minutes).flatMap { minute in
            ["fcm", "apns"].map { provider in
                let isBad = (minute / 25) % 2 == 1
                let bad = Int64.random(in: isBad ? 10...60 : 0...2, using: &random)
                let delay = minute < 100 && Int.random(in: 0..<3, using: &random) == 0 ? Int.random(in: 12...29, using: &random) : 0
                return (minute: minute, provider: provider, bad: bad, arrives: minute + delay)
            }
        }
        func states(late: Bool) async throws -> [String] {
            try await withDatabase { pool in
                let traffic = try await Traffic(pool)
                let evaluator = RuleEvaluator.forTest(pool)
                for minute in 0..<minutes {
                    for one in trace where (late ? one.arrives : one.minute) == minute {
                        let range = one.minute..<one.minute + 1
                        if late, one.arrives > one.minute {
                            try await report(traffic, range, attempts: 100, bad: one.bad, provider: one.provider)
                        } else {
                            try await traffic.add(range, attempts: 100, bad: one.bad, provider: one.provider)
                        }
                    }
                    if minute >= 5 { try await evaluator.evaluate(minutes: minute + 1) }
                }
                let open = try await AlertStore.open(on: pool).map(\.group.description).sorted()
                let states = try await pool.query(
                    "SELECT groupKey || ' ' || (state->'open') FROM alertCheckpoints WHERE state->'open' IS NOT NULL ORDER BY 1"
                )
                return try open + states.map { try $0.decode(String.self) }
            }
        }
        let inTime = try await states(late: false)
        #expect(!inTime.isEmpty)
        #expect(try await states(late: true) == inTime)
    }
}
