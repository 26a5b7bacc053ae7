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
        try await (AlertStore.open(on: pool) + AlertStore.resolved(limit: 100, on: pool)).sorted { $0.firedAt < $1.firedAt }
    }

    private func backtest(_ pool: PostgresPool, minutes: Int) async throws -> [BacktestAlert] {
        let span = BacktestSpan(since: Traffic.start, last: Traffic.start + (minutes - 1))
        return try await RuleBacktest(span: span, on: pool).run(Rules.provider5xx).alerts
    }

    private func waiting(_ pool: PostgresPool) async throws -> Int { try await LateAttemptStore.waiting(on: pool).count }

    /// A database, the traffic in it, and an evaluator of the rule.
    private func withTraffic(
        daysBack: Int64 = 1,
        _ body: (_ pool: PostgresPool, _ traffic: Traffic, _ evaluator: RuleEvaluator) async throws -> Void
    ) async throws {
        try await withDatabase { pool in
            try await body(pool, try await Traffic(pool, daysBack: daysBack), RuleEvaluator.forTest(pool))
        }
    }

    @Test("an incident that is found after it ended is a ticket that says so, once, with the minutes that a backtest finds")
    func ended() async throws {
        try await withTraffic { pool, traffic, evaluator in
            try await traffic.add(0..<140, attempts: 100, bad: 0)
            try await evaluator.evaluate(minutes: 20...100)
            try await report(traffic, 30..<50, attempts: 100, bad: 100)
            try await evaluator.evaluate(minutes: 101...140)
            let alert = try #require(try await all(pool).first)
            let expected = try #require(try await backtest(pool, minutes: 140).first)
            #expect(try await all(pool).count == 1)
            #expect(alert.state == .resolved && alert.severity == .ticket)
            #expect(alert.labels["severity"] == "ticket" && alert.annotations["late"]?.hasPrefix("Found after it had ended") == true)
            #expect(alert.firedAt == expected.firedAt.timestamp && alert.resolvedAt == expected.resolvedAt?.timestamp)
            #expect(try await waiting(pool) == 0)
            #expect(try await LateAttemptStore.count(since: Traffic.start.timestamp, on: pool) == 2000)
            try await report(traffic, 32..<33, attempts: 10, bad: 10)
            try await evaluator.evaluate(minutes: 141...150)
            #expect(try await all(pool) == [alert])
            #expect(try await waiting(pool) == 0)
        }
    }

    @Test("a sender that is fifteen minutes behind raises its page")
    func behind() async throws {
        try await withTraffic { pool, traffic, evaluator in
            try await traffic.add(0..<60, attempts: 100, bad: 0)
            try await evaluator.evaluate(minutes: 20...60)
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
        try await withTraffic { pool, traffic, evaluator in
            try await traffic.add(0..<30, attempts: 20, bad: 0)
            try await traffic.add(30..<50, attempts: 20, bad: 20)
            try await evaluator.evaluate(minutes: 20...80)
            #expect(try await AlertStore.open(on: pool).count == 1)
            try await report(traffic, 20..<60, attempts: 4000, bad: 0)
            try await evaluator.evaluate(minutes: 81...90)
            #expect(try await all(pool).map(\.resolvedReason) == ["late_attempts"])
            #expect(try await backtest(pool, minutes: 90).isEmpty)
            #expect(try await Recorded.outbox(pool).map(\.kind) == ["firing", "resolved"])
        }
    }

    @Test("an alert that ended too early for what came late is opened again")
    func reopened() async throws {
        try await withTraffic { pool, traffic, evaluator in
            try await traffic.add(0..<30, attempts: 100, bad: 0)
            try await traffic.add(30..<50, attempts: 100, bad: 50)
            try await traffic.add(50..<200, attempts: 100, bad: 0)
            try await evaluator.evaluate(minutes: 20...80)
            #expect(try await all(pool).map(\.state) == [.resolved])
            try await report(traffic, 50..<80, attempts: 400, bad: 400)
            try await evaluator.evaluate(minutes: 81...86)
            #expect(try await all(pool).map(\.state) == [.firing])
            try await evaluator.evaluate(minutes: 87...200)
            #expect(try await all(pool).map(\.resolvedAt) == backtest(pool, minutes: 200).map { $0.resolvedAt?.timestamp })
        }
    }

    @Test("while a rule has a fault, the others evaluate late minutes again every few minutes, and not each time")
    func fault() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            try await traffic.add(0..<70, attempts: 100, bad: 0)
            let other = Rules.make("Other", Rules.provider5xx.condition, by: [.provider])
            let clock = ManualClock()
            let evaluator = RuleEvaluator.forTest(pool, [Rules.provider5xx, other], clock: clock)
            try await evaluator.evaluate(minutes: 20...60)
            try await breakCheckpoint(of: "Other", pool)
            try await report(traffic, 30..<31, attempts: 1, bad: 0)
            var times: [Timestamp] = []
            for minutes in [61, 61, 61, 66] {
                clock.advance(.seconds(2))
                try await evaluator.evaluate(minutes: minutes)
                #expect(Array(evaluator.faults.keys) == ["Other"])
                times.append(
                    try await pool.query("SELECT evaluatedAt FROM alertRuleProgress WHERE rule = 'ProviderUnavailable'")[0]
                        .decode(Timestamp.self)
                )
            }
            #expect(Set(times).count == 2 && times[0] == times[2])
            #expect(try await waiting(pool) == 1)
        }
    }

    /// Both provide the same transitions, whenever attempts were reported.
    private func expectBacktest(_ pool: PostgresPool, minutes: Int) async throws {
        let span = BacktestSpan(since: Traffic.start, last: Traffic.start + (minutes - 1))
        let result = try await RuleBacktest(span: span, on: pool).run(Rules.provider5xx)
        let expected = try Decided.backtest([result]).map { "\($0.kind) @\($0.minute)" }
        #expect(try await Decided.live(pool).map { "\($0.kind) @\($0.minute)" } == expected)
    }

    @Test("a late incident soon after another is part of the alert that it opens again, and its receivers get one update")
    func soonAfter() async throws {
        try await withTraffic { pool, traffic, evaluator in
            try await traffic.add(0..<200, attempts: 100, bad: 0)
            try await traffic.add(20..<35, attempts: 100, bad: 100)
            try await evaluator.evaluate(minutes: 20...130)
            try await report(traffic, 80..<95, attempts: 100, bad: 100)
            try await evaluator.evaluate(minutes: 131...140)
            try await expectBacktest(pool, minutes: 140)
            let alert = try #require(try await all(pool).first)
            #expect(try await all(pool).count == 1)
            #expect(alert.severity == .page && alert.annotations["late"]?.hasPrefix("Found after it had ended") == true)
            #expect(try await Recorded.outbox(pool).map(\.kind) == ["firing", "resolved", "resolved"])
            try await report(traffic, 90..<91, attempts: 10, bad: 10)
            try await evaluator.evaluate(minutes: 141...150)
            #expect(try await all(pool) == [alert])
        }
    }

    @Test("an alert that late attempts open and end again stays acknowledged")
    func acknowledged() async throws {
        try await withTraffic { pool, traffic, evaluator in
            try await traffic.add(0..<200, attempts: 100, bad: 0)
            try await traffic.add(20..<35, attempts: 100, bad: 100)
            try await evaluator.evaluate(minutes: 20...40)
            let open = try #require(try await AlertStore.open(on: pool).first)
            let at = (Traffic.start + 40).timestamp
            #expect(try await AlertStore.acknowledge(open.id, recording: .test("Ada", at: at), on: pool) == .now)
            try await evaluator.evaluate(minutes: 41...130)
            #expect(try await all(pool).map(\.state) == [.resolved])
            // Its receivers know that it has ended.
            try await pool.execute("UPDATE notifications SET state = 'delivered', settledAt = \(at) WHERE state = 'pending'")
            try await report(traffic, 80..<95, attempts: 100, bad: 100)
            try await evaluator.evaluate(minutes: 131...140)
            #expect(try await Recorded.transitions(pool).map(\.kind).suffix(2) == ["reopened", "resolved"])
            let alert = try #require(try await all(pool).first)
            #expect(alert.id == open.id && alert.annotations["late"] != nil)
            #expect(alert.acknowledgedBy == "Ada" && alert.acknowledgedAt == at)
        }
    }

    @Test("a late incident that ended while, or before, another alert of its group fired is a ticket of its own", arguments: [140, 240])
    func whileOpen(until minutes: Int) async throws {
        try await withTraffic { pool, traffic, evaluator in
            try await traffic.add(0..<250, attempts: 100, bad: 0)
            try await traffic.add(110..<150, attempts: 100, bad: 100)
            try await evaluator.evaluate(minutes: 20...minutes)
            let page = try #require(try await all(pool).first)
            try await report(traffic, 40..<55, attempts: 100, bad: 100)
            try await evaluator.evaluate(minutes: minutes + 1...minutes + 5)
            let ticket = try #require(try await all(pool).first)
            let expected = try #require(try await backtest(pool, minutes: minutes + 5).first)
            #expect(ticket.severity == .ticket && ticket.firedAt == expected.firedAt.timestamp)
            #expect(ticket.resolvedAt.map { Minute($0) } == expected.interruptions.first.map { $0.minute + 1 })
            #expect(try await all(pool).map(\.id) == [ticket.id, page.id])
            #expect(try await all(pool).last?.state == page.state)
            try await evaluator.evaluate(minutes: minutes + 6...250)
            #expect(try await all(pool).map(\.state) == [.resolved, .resolved])
        }
    }

    @Test("what fires soon after a late ticket pages")
    func pageAfterTicket() async throws {
        try await withTraffic { pool, traffic, evaluator in
            try await traffic.add(0..<140, attempts: 100, bad: 0)
            try await evaluator.evaluate(minutes: 20...100)
            try await report(traffic, 30..<50, attempts: 100, bad: 100)
            try await traffic.add(110..<140, attempts: 100, bad: 100)
            try await evaluator.evaluate(minutes: 101...140)
            #expect(try await all(pool).map(\.severity) == [.ticket, .page])
            #expect(try await all(pool).last?.startsAt == (Traffic.start + 110).timestamp)
        }
    }

    @Test("an alert from before the checkpoint that goes on by what came late is opened again, or ends later", arguments: [150, 300])
    func fromBefore(until minutes: Int) async throws {
        try await withTraffic { pool, traffic, evaluator in
            try await traffic.add(0..<400, attempts: 100, bad: 0)
            try await traffic.add(40..<70, attempts: 100, bad: 100)
            try await evaluator.evaluate(minutes: 20...minutes)
            #expect(try await all(pool).map(\.state) == [.resolved])
            try await report(traffic, 70..<140, attempts: 400, bad: 400)
            try await evaluator.evaluate(minutes: minutes + 1...minutes + 5)
            #expect(try await all(pool).map(\.resolvedAt) == backtest(pool, minutes: minutes + 5).map { $0.resolvedAt?.timestamp })
            try await evaluator.evaluate(minutes: minutes + 6...310)
            #expect(try await all(pool).map(\.resolvedAt) == backtest(pool, minutes: 310).map { $0.resolvedAt?.timestamp })
        }
    }

    @Test(
        "where attempts come late all the time, rules are evaluated again from little more than an hour before them",
        arguments: [20, 100]
    )
    func steadilyLate(by lateness: Int) async throws {
        try await withTraffic { pool, traffic, evaluator in
            try await traffic.add(0..<400, attempts: 100, bad: 0)
            try await evaluator.evaluate(minutes: 110)
            for minute in stride(from: 115, through: 400, by: 5) {
                let late = minute - lateness - 5..<minute - lateness
                try await report(traffic, late, attempts: 100, bad: (200..<230).contains(late.lowerBound) ? 100 : 0)
                try await evaluator.evaluate(minutes: minute)
                guard minute > 240 else { continue }
                let first = Traffic.start + late.lowerBound
                let snapshot = try #require(try await RuleSnapshot.read(Rules.provider5xx, before: first, on: pool)?.asOf)
                #expect(first - snapshot <= 65)
            }
            #expect(try await waiting(pool) == 0)
            let expected = try await backtest(pool, minutes: 400)
            #expect(try await all(pool).map(\.firedAt) == expected.map(\.firedAt.timestamp))
            #expect(try await all(pool).map(\.resolvedAt) == expected.map { $0.resolvedAt?.timestamp })
            #expect(expected.count == 1)
        }
    }

    @Test("imports, and minutes more than a day back, are only counted")
    func counted() async throws {
        try await withTraffic(daysBack: 2) { pool, traffic, evaluator in
            try await traffic.add(0..<100, attempts: 100, bad: 0)
            try await evaluator.evaluate(minutes: 20...60)
            try await report(traffic, 20..<40, attempts: 100, bad: 100, slot: 1000)
            try await report(traffic, -1500 ..< -1480, attempts: 100, bad: 100)
            try await evaluator.evaluate(minutes: 61...70)
            #expect(try await all(pool) == [])
            #expect(try await waiting(pool) == 0)
        }
    }

    @Test("one late attempt pages nobody about what an import changed before it, and the next rise does", arguments: [true, false])
    func afterImport(isOver: Bool) async throws {
        try await withTraffic { pool, traffic, evaluator in
            try await traffic.add(0..<40, attempts: 100, bad: 0)
            if isOver { try await traffic.add(60..<100, attempts: 100, bad: 0) }
            try await evaluator.evaluate(minutes: 100)
            // An import, which is only counted.
            try await traffic.add(40..<60, attempts: 100, bad: 100)
            #expect(try await backtest(pool, minutes: 100).map { $0.resolved != nil } == [isOver])
            // No checkpoint is older than this minute.
            try await report(traffic, 85..<86, attempts: 1, bad: 0)
            try await evaluator.evaluate(minutes: 101...106)
            #expect(try await all(pool).map(\.severity) == (isOver ? [.ticket] : []))
            #expect(try await waiting(pool) == 0)
            try await traffic.add(110..<130, attempts: 100, bad: 100)
            try await evaluator.evaluate(minutes: 107...130)
            #expect(try await all(pool).filter { $0.severity == .page }.map(\.startsAt) == [(Traffic.start + 110).timestamp])
        }
    }

    @Test("a late attempt does not end an alert from before it, whatever an import changed")
    func alertBeforeImport() async throws {
        try await withTraffic { pool, traffic, evaluator in
            try await traffic.add(0..<30, attempts: 20, bad: 0)
            try await traffic.add(30..<50, attempts: 20, bad: 20)
            try await evaluator.evaluate(minutes: 20...80)
            let alert = try #require(try await AlertStore.open(on: pool).first)
            try await traffic.add(20..<60, attempts: 4000, bad: 0)
            try await report(traffic, 55..<56, attempts: 1, bad: 0)
            try await evaluator.evaluate(minutes: 81...90)
            #expect(try await AlertStore.open(on: pool).map(\.id) == [alert.id])
            #expect(try await waiting(pool) == 0)
        }
    }

    @Test("every time in which a backtest finds a group firing is recorded", arguments: [1, 2, 3] as [UInt64])
    func everyIncident(_ seed: UInt64) async throws {
        try await withTraffic { pool, traffic, evaluator in
            var random = SeededGenerator(seed: seed)
            var arriving: [Int: [(minutes: Range<Int>, provider: String, bad: Int64)]] = [:]
            for start in stride(from: 0, to: 300, by: 20) {
                for provider in ["fcm", "apns"] {
                    let bad: Int64 = Int.random(in: 0..<3, using: &random) == 0 ? 40 : 0
                    let delay = start == 0 || Bool.random(using: &random) ? 0 : Int.random(in: 30...100, using: &random)
                    if delay > 0 {
                        arriving[start + delay, default: []].append((start..<start + 20, provider, bad))
                    } else {
                        try await traffic.add(start..<start + 20, attempts: 100, bad: bad, provider: provider)
                    }
                }
            }
            for minute in 15...400 {
                for block in arriving[minute] ?? [] {
                    try await report(traffic, block.minutes, attempts: 100, bad: block.bad, provider: block.provider)
                }
                if minute % 3 == 0 || minute >= 390 { try await evaluator.evaluate(minutes: minute) }
            }
            let recorded = try await RecordedFiring.read(rule: Rules.provider5xx.name, since: Traffic.start.timestamp, on: pool)
            var found = 0
            for alert in try await backtest(pool, minutes: 400) {
                let ends = (alert.interruptions + [alert.resolved].compactMap { $0 }).filter { $0.kind == .resolved }.map { $0.minute + 1 }
                let begins = [alert.firedAt] + alert.interruptions.filter { $0.kind == .reopened }.map { $0.minute + 1 }
                for (index, begin) in begins.enumerated() {
                    let end = ends.indices.contains(index) ? ends[index] : nil
                    let known = recorded.filter { one in
                        one.group == alert.group && (one.until.map { begin < $0 } ?? true) && (end.map { one.from < $0 } ?? true)
                    }
                    found += 1
                    #expect(!known.isEmpty, "\(alert.group) from minute \(begin - Traffic.start)")
                }
            }
            #expect(found > 2)
        }
    }

    @Test(
        "what fires in the end, and by what numbers, does not depend on when attempts were reported, nor on when the evaluator ran",
        arguments: [1, 2] as [UInt64]
    )
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
        func states(late: Bool, every: Int = 1) async throws -> [String] {
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
                    // Late attempts are looked at every five minutes.
                    guard minute >= 5, minute % every == 0 || minute >= minutes - 5 else { continue }
                    try await evaluator.evaluate(minutes: minute + 1)
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
        #expect(try await states(late: true, every: 7) == inTime)
        #expect(try await states(late: true, every: 45) == inTime)
    }
}
