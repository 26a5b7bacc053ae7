import AlertRules
import Foundation
import Testing

/// State is a function of the data: wherever an evaluator stops and starts again, the same comes of it.
@Suite("Restarts")
struct RestartTests {
    /// Stretches of changing traffic, with outages, blips, silence and recovery.
    private static func trace(seed: UInt64, minutes: Int) -> [AttemptCounts] {
        let rates: [Int64] = [0, 1, 5, 20, 100]
        let shares = [0, 0, 0.01, 0.04, 0.06, 0.2, 1]
        var random = Seeded(seed: seed)
        var result: [AttemptCounts] = []
        while result.count < minutes {
            let length = Int.random(in: 1...40, using: &random)
            let rate = rates[Int.random(in: rates.indices, using: &random)]
            let share = shares[Int.random(in: shares.indices, using: &random)]
            for _ in 0..<length {
                let attempts = rate == 0 ? 0 : Int64.random(in: 0...(2 * rate), using: &random)
                result.append(AttemptCounts(attempts: attempts, bad: random.binomial(attempts, share)))
            }
        }
        return Array(result.prefix(minutes))
    }

    private static let rules = [
        Make.outage(), Make.auth(), Make.outage(version: .one),
        Make.spike { $0.warnMinBad = 10 }, Make.spike(version: .one) { $0.warnMinBad = 10 },
    ]

    @Test("a restart after every minute of a day changes nothing", arguments: [1, 2, 3, 4, 5] as [UInt64])
    func everyMinute(seed: UInt64) throws {
        let minutes = 1440
        let series = MinuteSeries(first: Make.start, minutes: Self.trace(seed: seed, minutes: minutes))
        let history = GroupHistory(series: series)
        for rule in Self.rules {
            let whole = RuleEvaluation.fold(rule, history, from: AlertState(asOf: Make.start - 1), through: series.end - 1)
            var state = AlertState(asOf: Make.start - 1)
            var transitions: [Transition] = []
            for minute in 0..<minutes {
                // The checkpoint goes through its stored form, and only the rule's look-back is read again.
                let stored = try JSONDecoder().decode(AlertState.self, from: JSONEncoder().encode(state))
                let fold = RuleEvaluation.fold(rule, Self.cut(history, rule, at: minute), from: stored, through: Make.start + minute)
                state = fold.state
                transitions += fold.transitions
            }
            #expect(transitions == whole.transitions, "seed \(seed), \(rule.condition.definition)")
            #expect(state == whole.state, "seed \(seed), \(rule.condition.definition)")
        }
    }

    /// What a restarted evaluator would load: the look-back, and since when anything is known.
    private static func cut(_ history: GroupHistory, _ rule: AlertRule, at minute: Int) -> GroupHistory {
        let first = max(0, minute - rule.lookback)
        let minutes = (first...minute).map { history.total[Make.start + $0] }
        let series = MinuteSeries(first: Make.start + first, minutes: minutes)
        let strata = [StratumHistory(key: GroupKey(), series: series, days: history.strata[0].days)]
        return GroupHistory(group: GroupKey(), strata: strata, knownSince: history.knownSince)
    }

    @Test("any split of a long trace gives what the whole gives", arguments: [11, 12, 13] as [UInt64])
    func splits(seed: UInt64) {
        var random = Seeded(seed: seed)
        let minutes = 12 * 1440
        let series = MinuteSeries(first: Make.start, minutes: Self.trace(seed: seed, minutes: minutes))
        let history = GroupHistory(series: series)
        for rule in Self.rules {
            let whole = RuleEvaluation.fold(rule, history, from: AlertState(asOf: Make.start - 1), through: series.end - 1)
            #expect(!whole.transitions.isEmpty, "seed \(seed): a trace without alerts shows nothing")
            for _ in 0..<5 {
                let split = Make.start + Int.random(in: 0..<minutes, using: &random)
                let head = RuleEvaluation.fold(rule, history, from: AlertState(asOf: Make.start - 1), through: split)
                let tail = RuleEvaluation.fold(rule, history, from: head.state, through: series.end - 1)
                #expect(head.transitions + tail.transitions == whole.transitions, "seed \(seed), split at \(split)")
                #expect(tail.state == whole.state, "seed \(seed), split at \(split)")
            }
        }
    }

    @Test("beginnings and ends alternate, and times are in order", arguments: [21, 22, 23, 24] as [UInt64])
    func order(seed: UInt64) {
        let series = MinuteSeries(first: Make.start, minutes: Self.trace(seed: seed, minutes: 10 * 1440))
        for rule in Self.rules {
            let transitions = Make.transitions(rule, GroupHistory(series: series))
            for (index, transition) in transitions.enumerated() {
                #expect((transition.kind == .resolved) == !index.isMultiple(of: 2), "seed \(seed)")
                #expect(transition.startsAt < transition.firedAt && transition.firedAt <= transition.minute + 1, "seed \(seed)")
                if let endsAt = transition.endsAt {
                    #expect(transition.startsAt < endsAt && endsAt <= transition.minute + 1, "seed \(seed)")
                }
            }
        }
    }

    @Test("folding a minute twice does nothing")
    func twice() {
        let history = Make.history([(60, 100, 0), (20, 100, 10)])
        let once = RuleEvaluation.fold(Make.outage(), history, through: Make.start + 79)
        let again = RuleEvaluation.fold(Make.outage(), history, from: once.state, through: Make.start + 79)
        #expect(once.transitions.count == 1 && again.transitions.isEmpty && again.state == once.state)
    }
}
