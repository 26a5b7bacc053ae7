import Testing

@testable import AlertRules

@Suite("A level that was called normal")
struct BaselineAcceptanceTests {
    typealias Runs = [(minutes: Int, attempts: Int64, bad: Int64)]

    private static let week = 8 * 1440
    private static let usual: Runs = [(week, 100, 1)]

    private func history(_ runs: Runs, _ acceptances: [BaselineAcceptance] = []) -> GroupHistory {
        let stratum = StratumHistory(key: BaselineDecisionTests.key, series: Make.series(runs))
        var history = GroupHistory(group: GroupKey(), strata: [stratum])
        history.acceptances = acceptances
        return history
    }

    /// The level at `minute`, of an alert that began with the ninth day, as the evaluator takes it.
    private func accepted(_ runs: Runs, at minute: Int, to: Int? = nil, rule: AlertRule = Make.spike(version: .one)) -> BaselineAcceptance {
        let at = Make.start + minute
        let shares = RuleEvaluation.level(rule, history(runs), since: Make.start + Self.week, through: at)
        return BaselineAcceptance(from: at, to: to.map { Make.start + $0 }, shares: shares)
    }

    private func summary(_ runs: Runs, _ acceptances: [BaselineAcceptance], rule: AlertRule = Make.spike(version: .one)) -> [String] {
        Make.transitions(rule, history(runs, acceptances)).map { "\($0.kind) \($0.reason.rawValue) @\($0.minute - Make.start - Self.week)" }
    }

    @Test(
        "the alert ends at that minute, the same level fires no more, and a rise above it fires at once",
        arguments: [2, 8, 30] as [Int64]
    )
    func accepts(factor: Int64) throws {
        let bad = 2 + factor
        let level = accepted(Self.usual + [(60, 100, bad)], at: Self.week + 52)
        #expect(abs(try #require(level.shares.first).share - Double(bad) / 100) < 1e-12, "the time before the rise dilutes nothing")
        let plain = summary(Self.usual + [(3 * 1440, 100, bad)], [])
        try #require(plain.count == 1, "\(plain)")
        let quiet = summary(Self.usual + [(3 * 1440, 100, bad)], [level])
        #expect(quiet == plain + ["resolved accepted @52"])
        // 3.0 × of what was accepted is silent as well, and the least bit above fires.
        let exact: Runs = [(1440, 1000, 10 * bad)]
        let tripled = Self.usual + exact + [(240, 1000, 30 * bad)]
        let usualLevel = BaselineAcceptance(from: Make.start + Self.week + 52, shares: level.shares)
        #expect(summary(tripled, [usualLevel]).count == 2)
        let above = summary(Self.usual + exact + [(240, 1000, 30 * bad + 1)], [usualLevel])
        #expect(above.count == 3 && above.last?.hasPrefix("fired") == true, "\(above)")
    }

    @Test("whole days after it take its place: when the old level comes back, the old threshold does")
    func relearns() {
        let back: Runs = Self.usual + [(1440, 100, 8), (5 * 1440, 100, 1), (600, 100, 4)]
        let level = accepted(Self.usual + [(60, 100, 8)], at: Self.week + 52)
        let fired = summary(back, [level]).filter { $0.hasPrefix("fired") }
        #expect(fired.count == 2, "five real days of 1 % outweigh two of the accepted 8 %: \(fired)")
        // A day after, four per cent are still half of what was accepted.
        let soon: Runs = Self.usual + [(1440, 100, 8), (1440, 100, 1), (600, 100, 4)]
        #expect(summary(soon, [level]).count { $0.hasPrefix("fired") } == 1)
    }

    @Test("taken back, the past counts again as it was")
    func undone() {
        let runs = Self.usual + [(600, 100, 8)]
        let level = accepted(runs, at: Self.week + 52, to: Self.week + 300)
        #expect(summary(runs, [level]).suffix(2) == ["resolved accepted @52", "fired condition_met @304"])
        // An older one is in force again when the newer one is undone.
        let first = accepted(runs, at: Self.week + 52)
        let second = BaselineAcceptance(
            from: Make.start + Self.week + 100,
            to: Make.start + Self.week + 200,
            shares: first.shares.map { FrozenShare(stratum: $0.stratum, share: $0.share / 100) }
        )
        let between = summary(runs, [first, second])
        #expect(between.count { $0.hasPrefix("fired") } == 2, "a level far below fires: \(between)")
    }

    @Test("in sum exactly what was seen is expected, and a stratum without attempts keeps its own past")
    func strata() throws {
        func key(_ type: String) -> GroupKey {
            GroupKey([.provider: "apns", .platform: "ios", .environment: "production", .pushType: type])
        }
        func stratum(_ type: String, _ runs: Runs) -> StratumHistory { StratumHistory(key: key(type), series: Make.series(runs)) }
        let rise: Runs = [(30, 100, 8)]
        let history = GroupHistory(
            group: GroupKey([.provider: "apns"]),
            strata: [
                stratum("alert", Self.usual + rise), stratum("background", [(Self.week, 10, 1), (30, 10, 1)]),
                stratum("liveactivity", [(Self.week, 50, 1), (30, 0, 0)]),
            ]
        )
        let last = Make.start + Self.week + 29
        let shares = RuleEvaluation.level(Make.spike(version: .one), history, since: Make.start + Self.week, through: last)
        #expect(shares.map(\.stratum) == [key("alert"), key("background")])
        let expected = zip(shares, [3000.0, 300]).reduce(0) { $0 + $1.0.share * $1.1 }
        #expect(abs(expected - 270) < 1e-9, "240 and 30 failed")
        #expect(shares[0].share > 0.07 && shares[0].share < 0.09)
    }

    @Test("a ticket of a learning baseline is accepted too: its fixed share is not enough any more")
    func learning() {
        let runs: Runs = [(1440, 100, 1), (600, 100, 20)]
        let at = Make.start + 1440 + 40
        let shares = RuleEvaluation.level(Make.spike(version: .one), history(runs), since: Make.start + 1440, through: at)
        let level = BaselineAcceptance(from: at, shares: shares)
        let transitions = Make.transitions(Make.spike(version: .one), history(runs, [level]))
        #expect(transitions.map(\.reason) == [.conditionMet, .accepted] && transitions.allSatisfy { $0.severity == .ticket })
        let risen = Make.transitions(Make.spike(version: .one), history(runs + [(120, 100, 70)], [level]))
        #expect(risen.map(\.kind) == [.fired, .resolved, .fired])
    }

    @Test("a restart anywhere around it gives what no restart gives")
    func restarts() {
        let runs = Self.usual + [(240, 100, 8), (120, 100, 40)]
        let history = history(runs, [accepted(runs, at: Self.week + 52, to: Self.week + 130)])
        let whole = Make.transitions(Make.spike(version: .one), history)
        #expect(whole.count == 3)
        let (first, last) = (Make.start + Self.week, history.total.end - 1)
        let before = RuleEvaluation.fold(Make.spike(version: .one), history, from: AlertState(asOf: Make.start - 1), through: first)
        for cut in stride(from: 1, to: last - first, by: 7) {
            let early = RuleEvaluation.fold(Make.spike(version: .one), history, from: before.state, through: first + cut)
            let late = RuleEvaluation.fold(Make.spike(version: .one), history, from: early.state, through: last)
            #expect(before.transitions + early.transitions + late.transitions == whole, "cut at \(cut)")
        }
    }

    @Test("a rule without a baseline has no level to accept")
    func others() {
        #expect(RuleEvaluation.level(Make.outage(), history(Self.usual), since: Make.start, through: Make.start + 60) == [])
        let silent = RuleEvaluation.level(
            Make.spike(version: .one),
            history([(Self.week, 100, 0), (30, 10, 0)]),
            since: Make.start,
            through: Make.start + 60
        )
        #expect(silent == [], "nothing failed")
    }
}
