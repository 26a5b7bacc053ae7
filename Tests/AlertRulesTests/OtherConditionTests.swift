import AlertRules
import Testing

/// Conditions beside ratio and baseline: the definitions stand in alerts/README.md.
@Suite("absence/1, backlog/1, queue-age/1, first-sight/1, reregistration/1")
struct OtherConditionTests {
    private let absence = Make.rule(.absence(AbsenceCondition(for: RuleDuration(minutes: 10))), severity: .critical)
    private let backlog = Make.rule(.backlog(BacklogCondition(above: 1000, for: RuleDuration(minutes: 15))))

    @Test("no success fires when the tenth minute closes, at any rate from one a minute on", arguments: [1, 2, 50, 10_000] as [Int64])
    func absenceFires(rate: Int64) {
        #expect(Make.firings(absence, [(60, rate, 0), (30, rate, rate), (60, rate, 0)]) == [70])
        #expect(Make.firings(absence, [(60, rate, 0), (9, rate, rate), (60, rate, 0)]) == [], "nine minutes are not ten")
    }

    @Test("one success in the time keeps it silent, whatever the number of failures")
    func oneSuccess() {
        #expect(Make.firings(absence, [(60, 100, 0), (5, 100, 100), (1, 100, 99), (9, 100, 100), (1, 100, 99), (60, 100, 0)]) == [])
    }

    @Test("where the time holds too few failures it grows up to twice as long, and no further; a success ends it")
    func absenceInLowTraffic() {
        func failing(_ repeated: [(Int, Int64, Int64)]) -> [Int] {
            let runs: [(Int, Int64, Int64)] = [(60, 1, 0)] + (0..<12).flatMap { _ in repeated }
            return Make.firings(absence, runs)
        }
        #expect(failing([(4, 1, 1), (1, 0, 0)]) == [72], "the tenth failure falls into the twelfth minute")
        #expect(failing([(4, 0, 0), (1, 3, 3)]) == [80], "three every five minutes")
        #expect(failing([(4, 0, 0), (1, 2, 2)]) == [], "never ten in twenty minutes")
        #expect(Make.firings(absence, [(60, 1, 0), (5, 1, 1), (1, 1, 0), (9, 1, 1), (60, 1, 0)]) == [], "nine since the last success")
    }

    @Test("when everything fails at about one attempt a minute, absence never fires after a ratio rule of a quarter of an hour does")
    func absenceFirst() {
        var random = Seeded(seed: 4711)
        var both = 0
        for run in 0..<400 {
            let rate = [0.7, 1.0, 1.4][run % 3]
            let runs: [(Int, Int64, Int64)] = (0..<180).map { minute in
                let attempts = (0..<10).count { _ in Double.random(in: 0..<1, using: &random) < rate / 10 }
                return (1, Int64(attempts), minute < 60 ? 0 : Int64(attempts))
            }
            guard let ratio = Make.firings(Make.outage(), runs).first else { continue }
            let nothing = Make.firings(absence, runs).first ?? .max
            #expect(nothing <= ratio, "run \(run): \(nothing) and \(ratio)")
            both += 1
        }
        #expect(both > 300)
    }

    @Test("the beginning is the first failure after the last success, as far back as the rule looks, however much history there is")
    func absenceBegin() {
        let sparse: [(Int, Int64, Int64)] = (0..<10).flatMap { _ in [(59, 0, 0), (1, 1, 1)] }
        let runs: [(Int, Int64, Int64)] = [(60, 1, 0)] + sparse + [(20, 5, 5)]
        let whole = Make.transitions(absence, Make.history(runs))[0]
        #expect(whole.startsAt - Make.start == 599)
        let last = whole.minute
        let newest = Make.counts(runs)[(last - Make.start - 119)...(last - Make.start)]
        let short = GroupHistory(series: MinuteSeries(first: last - 119, minutes: newest))
        let again = RuleEvaluation.fold(absence, short, from: AlertState(asOf: last - 1), through: last).transitions
        #expect(again.first?.startsAt == whole.startsAt)
    }

    @Test("without attempts absence keeps firing; a few successes are not recovery, ten over ten minutes are")
    func absenceHeld() throws {
        let runs: [(Int, Int64, Int64)] = [(60, 10, 0), (20, 10, 10), (600, 0, 0), (5, 1, 0), (30, 1, 1), (30, 2, 0)]
        let transitions = Make.transitions(absence, Make.history(runs))
        #expect(transitions.map(\.kind) == [.fired, .resolved])
        #expect(transitions[0].firedAt - Make.start == 70)
        #expect(transitions[0].startsAt - Make.start == 60)
        // Five successes after ten hours of nothing prove nothing: the failures that follow are the same alert.
        #expect(transitions[1].minute - Make.start == 724)
    }

    @Test("evidence says what it counts")
    func words() throws {
        let fired = try #require(Make.transitions(absence, Make.history([(60, 10, 0), (20, 10, 10)])).first)
        #expect(fired.evidence.observedText == "0 successes")
        #expect(fired.evidence.thresholdText == "no success")
        #expect(fired.evidence.observed.counts == AttemptCounts(attempts: 100, bad: 100))
    }

    /// A sample a minute of what waits.
    private func queue(_ values: [Int64?]) -> GroupHistory {
        let rows = values.enumerated().compactMap { minute, value in
            value.map { MinuteCounts(minute: Make.start + minute, attempts: 1, bad: $0) }
        }
        return GroupHistory(series: MinuteSeries(rows))
    }

    @Test("a queue fires when it grew for the time and is above the threshold; a steady one, a full one and a shrinking one do not")
    func growing() {
        func firings(_ values: [Int64?]) -> [Int] {
            Make.transitions(backlog, queue(values)).filter { $0.kind == .fired }.map { $0.firedAt - Make.start }
        }
        let calm = [Int64?](repeating: 50, count: 30)
        #expect(firings(calm + (1...30).map { $0 * 200 }) == [47], "four fifths of fifteen minutes with more than the threshold")
        #expect(firings(calm + (1...30).map { $0 * 1200 }) == [42], "over the threshold at once")
        #expect(firings(calm + (1...30).map { $0 * 20 }) == [], "growing, but small")
        #expect(firings(calm + [Int64?](repeating: 50_000, count: 60)) == [], "one jump is not growth")
        #expect(firings(calm + (0..<60).map { 60_000 - $0 * 1000 }) == [], "a campaign that drains")
        // Filled for twelve minutes, and worked off since: it looks grown over a third of the time for minutes to come.
        let filled = (1...11).map { Int64?(1400 * Int64($0)) } + (1...25).map { Int64?(max(50, 15_400 - 560 * Int64($0))) }
        #expect(firings(calm + filled) == [], "a campaign that comes over eleven minutes, and drains")
        // Before it the small queue happens to rise for ten minutes.
        let risen = (51...60).map { Int64?($0) } + (0..<10).map { Int64?(6000 - 560 * Int64($0)) }
        #expect(firings(calm + risen + calm) == [], "a campaign into a small queue that happened to rise")
        #expect(firings((0..<60).map { 5000 + ($0.isMultiple(of: 2) ? 400 : -400) }) == [], "a queue that breathes")
        #expect(firings(calm + (1...30).map { $0.isMultiple(of: 2) ? nil : $0 * 200 }).count == 0, "every second minute was not looked at")
    }

    @Test("without samples the alert keeps firing; a shrinking or small backlog resolves it")
    func drained() {
        let calm = [Int64?](repeating: 50, count: 30)
        let grown = calm + (1...20).map { $0 * 200 }
        let unseen = Make.transitions(backlog, queue(grown + [Int64?](repeating: nil, count: 200)))
        #expect(unseen.map(\.kind) == [.fired])
        let drained = Make.transitions(backlog, queue(grown + (0..<20).map { max(0, 4000 - $0 * 400) }))
        #expect(drained.map(\.kind) == [.fired, .resolved])
        #expect(drained.last?.evidence.worst.counts.bad == 4000)
    }

    @Test("a delivery that waits too long throughout the time fires; a moment of it, exactly the age, and minutes without a sample do not")
    func queueAge() throws {
        let rule = Make.rule(.queueAge(QueueAgeCondition(above: RuleDuration(minutes: 2), for: RuleDuration(minutes: 5))))
        func story(_ values: [Int64?]) -> [String] {
            Make.transitions(rule, queue(values)).map { "\($0.kind.rawValue) \($0.minute + 1 - Make.start)" }
        }
        let calm = [Int64?](repeating: 3, count: 30)
        let waiting = [Int64?](repeating: 300, count: 20)
        #expect(story(calm + waiting + calm) == ["fired 35", "resolved 55"])
        #expect(story(calm + (1...20).map { $0 * 60 } + calm) == ["fired 37", "resolved 55"], "older than two minutes from the third on")
        #expect(story(calm + waiting.prefix(4) + calm) == [], "four minutes are not five")
        #expect(story(calm + [Int64?](repeating: 120, count: 60)) == [], "exactly two minutes is not older than two minutes")
        #expect(story(calm + waiting.prefix(4) + [3] + waiting.prefix(4) + calm) == [], "it was empty in between")
        #expect(story(calm + [300, nil, 300, nil, 300] + calm) == ["fired 35", "resolved 40"], "three of five minutes were sampled")
        #expect(story(calm + [300, nil, nil, nil, 300] + calm) == [], "two of five")
        #expect(story([nil, nil] + waiting) == ["fired 7"], "what was before the first sample is not known")
        #expect(story(calm + waiting + [Int64?](repeating: nil, count: 600)) == ["fired 35"], "nobody looks: the alert stays")
        #expect(story(calm + waiting + [3, 3, 300] + calm) == ["fired 35", "resolved 58"], "the good minutes begin anew")
        let fired = try #require(Make.transitions(rule, queue(calm + waiting)).first)
        #expect(fired.evidence.observedText == "5m" && fired.evidence.thresholdPhrase == "above 2m")
        #expect(fired.startsAt == Make.start + 28, "the oldest send is due since then")
    }

    /// Cohorts of 20 an hour, as they become known, `returned` of them.
    private func cohorts(_ days: [Int64]) -> GroupHistory {
        let rows = days.enumerated().flatMap { day, returned in
            (0..<24).map { MinuteCounts(minute: Make.start + day * 1440 + $0 * 60 + 59, attempts: 20, bad: 20 - returned) }
        }
        return GroupHistory(series: MinuteSeries(rows))
    }

    @Test("devices that return far less than usual fire; a lasting low share, little data and the first days do not")
    func reregistration() {
        let rule = Make.rule(.reregistration(ReregistrationCondition(below: Fraction(1, 2))), severity: .ticket)
        func kinds(_ days: [Int64]) -> [Transition.Kind] { Make.transitions(rule, cohorts(days)).map(\.kind) }
        #expect(kinds([8, 8, 8, 8, 8, 8, 8, 2, 2, 8, 8]) == [.fired, .resolved])
        #expect(kinds([8, 8, 8, 8, 8, 8, 8, 4, 4, 4]) == [], "exactly half is not below half")
        #expect(kinds([1, 1, 1, 1, 1, 1, 1, 1, 1, 1]) == [], "as few as ever")
        #expect(kinds([8, 8, 0]) == [], "two training days are too few")
    }
}
