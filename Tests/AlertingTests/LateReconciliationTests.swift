import Testing

@testable import AlertRules
@testable import Alerting

/// The comparison of a second evaluation with what was recorded, without a database: an evaluator that runs at any minutes, and each time
/// knows what has been reported until then.
@Suite("What late attempts add to what was recorded")
struct LateReconciliationTests {
    private static let minutes = 420
    private static let group = GroupKey([.provider: "fcm"])

    /// A minute's counts, and when they are known.
    private struct Report {
        var counts: AttemptCounts
        var arrives: Int
    }

    private static func trace(_ random: inout SeededGenerator) -> [Report] {
        var reports: [Report] = []
        while reports.count < minutes {
            let length = Int.random(in: 8...60, using: &random)
            let bad: Int64 = [0, 0, 1, 12, 60][Int.random(in: 0..<5, using: &random)]
            let delay = Bool.random(using: &random) ? 0 : Int.random(in: 11...120, using: &random)
            for _ in 0..<length {
                // Everything is known at the end.
                let arrives = min(reports.count + delay, max(reports.count, minutes - 1))
                reports.append(Report(counts: AttemptCounts(attempts: 100, bad: bad), arrives: arrives))
            }
        }
        return Array(reports.prefix(minutes))
    }

    /// What all that is known at the end of `minute` shows.
    private static func fold(_ trace: [Report], at minute: Int) -> Fold {
        let counts = trace.prefix(minute + 1).map { $0.arrives <= minute ? $0.counts : AttemptCounts() }
        let history = GroupHistory(group: group, series: MinuteSeries(first: Traffic.start, minutes: counts))
        return RuleEvaluation.fold(
            Rules.provider5xx,
            history,
            from: AlertState(asOf: Traffic.start - 1),
            through: Traffic.start + minute
        )
    }

    private static func reconciled(_ fold: Fold, _ recorded: [RecordedFiring], since: Int = 0) -> LateReconciliation {
        LateReconciliation(
            Rules.provider5xx,
            fold.transitions,
            open: fold.state.open.map { [group: $0] } ?? [:],
            recorded: recorded,
            since: Traffic.start + since
        )
    }

    /// Everything fails in these minutes, of as many.
    private static func fold(bad: [Range<Int>], minutes: Int) -> Fold {
        let trace = (0..<minutes).map { minute in
            Report(counts: AttemptCounts(attempts: 100, bad: bad.contains { $0.contains(minute) } ? 100 : 0), arrives: minute)
        }
        return fold(trace, at: minutes - 1)
    }

    /// As the evaluator writes it: what is contradicted ends, then come the transitions, and incidents of their own.
    private static func record(_ late: LateReconciliation, at minute: Int, in recorded: inout [RecordedFiring]) {
        if late.contradicted.contains(group), let open = recorded.firstIndex(where: { $0.until == nil }) {
            recorded[open].until = Traffic.start + minute + 1
        }
        for transition in late.transitions {
            if transition.kind != .resolved {
                recorded.append(RecordedFiring(group: group, from: transition.minute + 1, until: nil))
            } else if let open = recorded.firstIndex(where: { $0.until == nil }) {
                recorded[open].until = transition.minute + 1
            }
        }
        recorded += late.incidents.map { RecordedFiring(group: group, from: $0.begin.minute + 1, until: $0.end.minute + 1) }
    }

    /// The times in which the fold fires.
    private static func firing(_ fold: Fold) -> [(from: Minute, until: Minute?)] {
        var firing: [(from: Minute, until: Minute?)] = []
        for transition in fold.transitions {
            if transition.kind == .resolved {
                firing[firing.count - 1].until = transition.minute + 1
            } else {
                firing.append((transition.minute + 1, nil))
            }
        }
        return firing
    }

    @Test(
        "whenever the evaluator ran and whatever it knew then, what it recorded covers what the whole data show, and is open as they are",
        arguments: [1, 5, 13, 60]
    )
    func anySchedule(_ every: Int) throws {
        var random = SeededGenerator(seed: UInt64(every))
        var found = 0
        for _ in 0..<25 {
            let trace = Self.trace(&random)
            var recorded: [RecordedFiring] = []
            for minute in 20..<Self.minutes {
                guard Int.random(in: 0..<every, using: &random) == 0 || minute == Self.minutes - 1 else { continue }
                let fold = Self.fold(trace, at: minute)
                Self.record(Self.reconciled(fold, recorded), at: minute, in: &recorded)
                #expect(recorded.count { $0.until == nil } == (fold.state.open == nil ? 0 : 1), "at minute \(minute)")
                for one in Self.firing(fold) {
                    let isKnown = recorded.contains { known in
                        (one.until.map { known.from < $0 } ?? true) && (known.until.map { one.from < $0 } ?? true)
                    }
                    #expect(isKnown, "\(one.from - Traffic.start) at minute \(minute)")
                    found += 1
                }
                let again = Self.reconciled(fold, recorded)
                #expect(again.transitions.isEmpty && again.incidents.isEmpty && again.contradicted.isEmpty, "a second look adds nothing")
            }
        }
        #expect(found > 50)
    }

    @Test("what fires since before the late minutes, and was not recorded, raises nothing; what was over is a ticket for a day")
    func unrecorded() {
        let over = Self.fold(bad: [40..<60], minutes: 200)
        #expect(Self.reconciled(over, [], since: 40).transitions.map(\.kind) == [.fired, .resolved])
        let open = Self.fold(bad: [40..<200], minutes: 200)
        #expect(Self.reconciled(open, [], since: 40).transitions.map(\.kind) == [.fired])
        // Over before the late minutes, it has no say in what they decide.
        let before = Self.reconciled(over, [], since: 150)
        #expect(before.transitions.map(\.kind) == [.fired, .resolved] && before.kept.isEmpty)
        for (fold, since) in [(over, 57), (open, 150)] {
            let late = Self.reconciled(fold, [], since: since)
            #expect(late.transitions.isEmpty && late.incidents.isEmpty && late.kept == [Self.group])
        }
        let longAgo = Self.reconciled(over, [], since: 60 + 1440 + 60)
        #expect(longAgo.transitions.isEmpty && longAgo.incidents.isEmpty && longAgo.kept.isEmpty)
    }

    @Test("an alert from before the late minutes that is not found, or is found to have ended later, keeps its state")
    func recordedOtherwise() {
        let recorded = [RecordedFiring(group: Self.group, from: Traffic.start + 55, until: nil)]
        let nothing = Self.fold(bad: [], minutes: 200)
        #expect(Self.reconciled(nothing, recorded, since: 40).contradicted == [Self.group])
        let late = Self.reconciled(nothing, recorded, since: 55)
        #expect(late.contradicted.isEmpty && late.kept == [Self.group])
        let ended = [RecordedFiring(group: Self.group, from: Traffic.start + 55, until: Traffic.start + 100)]
        let longer = Self.fold(bad: [40..<150], minutes: 200)
        #expect(Self.reconciled(longer, ended, since: 99).transitions.map(\.kind) == [.reopened, .resolved])
        let later = Self.reconciled(longer, ended, since: 120)
        #expect(later.transitions.isEmpty && later.kept == [Self.group])
    }

    @Test("an alert that lasted longer than was recorded does not end the one that fires now")
    func longerBeforeAnother() throws {
        let fold = Self.fold(bad: [40..<70, 140..<200], minutes: 200)
        let firings = Self.firing(fold)
        try #require(firings.count == 2)
        let end = try #require(firings[0].until)
        let recorded = [
            RecordedFiring(group: Self.group, from: firings[0].from, until: end - 10),
            RecordedFiring(group: Self.group, from: firings[1].from, until: nil),
        ]
        let late = Self.reconciled(fold, recorded, since: 40)
        #expect(late.transitions.isEmpty && late.incidents.isEmpty && late.contradicted.isEmpty && late.kept.isEmpty)
    }

    @Test("without late attempts it records what the fold decides, minute by minute")
    func inTime() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<10 {
            let trace = Self.trace(&random).enumerated().map { Report(counts: $0.element.counts, arrives: $0.offset) }
            var recorded: [RecordedFiring] = []
            for minute in 20..<Self.minutes {
                let late = Self.reconciled(Self.fold(trace, at: minute), recorded)
                #expect(late.incidents.isEmpty && late.contradicted.isEmpty)
                Self.record(late, at: minute, in: &recorded)
            }
            let whole = Self.firing(Self.fold(trace, at: Self.minutes - 1))
            #expect(recorded.map(\.from) == whole.map(\.from) && recorded.map(\.until) == whole.map(\.until))
        }
    }
}
