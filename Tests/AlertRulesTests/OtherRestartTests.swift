import AlertRules
import Foundation
import Testing

/// The same for the kinds of rules whose minutes are not shares of attempts.
@Suite("Restarts of the other conditions")
struct OtherRestartTests {
    /// A restart every `step` minutes: the checkpoint goes through its stored form, and only the rule's look-back is read again.
    private func expectNothingChanges(_ rule: AlertRule, _ minutes: [AttemptCounts], step: Int, seed: UInt64) throws {
        func history(_ range: ClosedRange<Int>) -> GroupHistory {
            let series = MinuteSeries(first: Make.start + range.lowerBound, minutes: minutes[range])
            let strata = [StratumHistory(key: GroupKey(), series: series, days: [])]
            return GroupHistory(group: GroupKey(), strata: strata, knownSince: Make.start)
        }
        let (first, last) = (AlertState(asOf: Make.start - 1), minutes.count - 1)
        let whole = RuleEvaluation.fold(rule, history(0...last), from: first, through: Make.start + last)
        #expect(whole.transitions.count > 1, "seed \(seed), \(rule.condition.definition): a trace without alerts shows nothing")
        var state = first
        var transitions: [Transition] = []
        for from in stride(from: 0, through: last, by: step) {
            let through = min(from + step - 1, last)
            let stored = try JSONDecoder().decode(AlertState.self, from: JSONEncoder().encode(state))
            let fold = RuleEvaluation.fold(
                rule,
                history(max(0, from - rule.lookback)...through),
                from: stored,
                through: Make.start + through
            )
            state = fold.state
            transitions += fold.transitions
        }
        #expect(transitions == whole.transitions, "seed \(seed), \(rule.condition.definition)")
        #expect(state == whole.state, "seed \(seed), \(rule.condition.definition)")
    }

    /// Stretches of up to `longest` minutes, each with a value of its own.
    private func stretches<Value>(_ values: [Value], longest: Int, minutes: Int, _ random: inout Seeded) -> [Value] {
        var result: [Value] = []
        while result.count < minutes {
            let value = values[Int.random(in: values.indices, using: &random)]
            result += Array(repeating: value, count: Int.random(in: 1...longest, using: &random))
        }
        return Array(result.prefix(minutes))
    }

    @Test(
        "no success: a restart after every minute of three days changes nothing, also where failures are sparse for hours",
        arguments: [1, 2, 3] as [UInt64]
    )
    func absence(seed: UInt64) throws {
        var random = Seeded(seed: seed)
        // How many attempts a minute, and whether they fail.
        let kinds = [(0.1, true), (0.2, true), (3, true), (3, false), (0.7, false)]
        let minutes = stretches(kinds, longest: 200, minutes: 3 * 1440, &random).map { rate, fails in
            let attempts = Int64(rate) + (Double.random(in: 0..<1, using: &random) < rate.truncatingRemainder(dividingBy: 1) ? 1 : 0)
            return AttemptCounts(attempts: attempts, bad: fails ? attempts : 0)
        }
        let rule = Make.rule(.absence(AbsenceCondition(for: RuleDuration(minutes: 10))), severity: .critical)
        try expectNothingChanges(rule, minutes, step: 1, seed: seed)
    }

    @Test("a backlog: a restart changes nothing, also with minutes without samples", arguments: [1, 2, 3] as [UInt64])
    func backlog(seed: UInt64) throws {
        var random = Seeded(seed: seed)
        var waiting: Int64 = 0
        let minutes = stretches([-300, -20, 0, 5, 80, 400] as [Int64], longest: 50, minutes: 1440, &random).map { change in
            waiting = max(0, waiting + change)
            return Int.random(in: 0..<20, using: &random) == 0 ? AttemptCounts() : AttemptCounts(attempts: 1, bad: waiting)
        }
        let rule = Make.rule(.backlog(BacklogCondition(above: 1000, for: RuleDuration(minutes: 15))))
        try expectNothingChanges(rule, minutes, step: 1, seed: seed)
    }

    @Test("a burn rate: a restart changes nothing", arguments: [1, 2] as [UInt64])
    func burnRate(seed: UInt64) throws {
        var random = Seeded(seed: seed)
        let minutes = stretches([0, 0.005, 0.03, 0.3], longest: 90, minutes: 2 * 1440, &random).map { share in
            let attempts = Int64.random(in: 0...40, using: &random)
            return AttemptCounts(attempts: attempts, bad: random.binomial(attempts, share))
        }
        let condition = BurnRateCondition(
            reasons: ["auth"],
            objective: Fraction(999, 1000),
            rate: Fraction(144, 10),
            long: RuleDuration(minutes: 60),
            short: RuleDuration(minutes: 5)
        )
        try expectNothingChanges(Make.rule(.burnRate(try #require(condition))), minutes, step: 1, seed: seed)
    }

    @Test("a traffic drop: a restart changes nothing", arguments: [1, 2] as [UInt64])
    func trafficDrop(seed: UInt64) throws {
        var random = Seeded(seed: seed)
        let present = stretches([0, 1, 4, 4, 6] as [Int64], longest: 200, minutes: 2 * 1440, &random)
        let minutes = (Array(repeating: 4, count: 14 * 1440) + present).map { AttemptCounts(attempts: $0, bad: 0) }
        var condition = TrafficDropCondition(below: Fraction(1, 2), for: RuleDuration(minutes: 15))
        condition.weeks = 2
        try expectNothingChanges(Make.rule(.trafficDrop(condition)), minutes, step: 97, seed: seed)
    }

    @Test("the age of a queue: a restart changes nothing", arguments: [1, 2, 3] as [UInt64])
    func queueAge(seed: UInt64) throws {
        var random = Seeded(seed: seed)
        let minutes = stretches([0, 5, 100, 130, 600] as [Int64], longest: 20, minutes: 1440, &random).map { age in
            Int.random(in: 0..<10, using: &random) == 0 ? AttemptCounts() : AttemptCounts(attempts: 1, bad: age)
        }
        let rule = Make.rule(.queueAge(QueueAgeCondition(above: RuleDuration(minutes: 2), for: RuleDuration(minutes: 5))))
        try expectNothingChanges(rule, minutes, step: 1, seed: seed)
    }

    @Test("a code seen for the first time: a restart changes nothing", arguments: [1, 2] as [UInt64])
    func firstSight(seed: UInt64) throws {
        var random = Seeded(seed: seed)
        let minutes = (0..<8 * 1440).map { _ in
            let isSeen = Int.random(in: 0..<4000, using: &random) == 0
            return AttemptCounts(attempts: isSeen ? 1 : 0, bad: isSeen ? 1 : 0)
        }
        var sight = FirstSightCondition()
        sight.notSeenFor = RuleDuration(minutes: 1440)
        sight.resolveAfter = RuleDuration(minutes: 600)
        try expectNothingChanges(Make.rule(.firstSight(sight)), minutes, step: 7, seed: seed)
    }

    @Test("devices that return: a restart after every hour of three weeks changes nothing", arguments: [1, 2] as [UInt64])
    func reregistration(seed: UInt64) throws {
        var random = Seeded(seed: seed)
        let shares = stretches([0.7, 0.7, 0.7, 0.97], longest: 3 * 1440, minutes: 21 * 1440, &random)
        let minutes = shares.enumerated().map { minute, share in
            guard minute % 60 == 0 else { return AttemptCounts() }
            return AttemptCounts(attempts: 20, bad: random.binomial(20, share))
        }
        try expectNothingChanges(Make.rule(.reregistration(ReregistrationCondition(below: Fraction(1, 2)))), minutes, step: 60, seed: seed)
    }
}
