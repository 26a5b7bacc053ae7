import AlertRules
import Testing

@Suite("ratio: what both versions have in common")
struct RatioDecisionTests {
    @Test("a step above the threshold fires when its 15th minute closes", arguments: [6, 8, 10, 100] as [Int64])
    func step(percent: Int64) throws {
        let transitions = Make.transitions(Make.outage(), Make.history([(60, 100, 0), (60, 100, percent)]))
        let fired = try #require(transitions.first)
        #expect(transitions.count == 1)
        #expect(fired.kind == .fired && fired.reason == .conditionMet && fired.severity == .page)
        #expect(fired.firedAt - Make.start == 75)
        #expect(fired.minute - Make.start == 74)
        #expect(fired.startsAt - Make.start == 60)
        #expect(fired.endsAt == nil)
        #expect(
            fired.evidence.observed == WindowCounts(first: Make.start + 60, minutes: 15, counts: .init(attempts: 1500, bad: 15 * percent))
        )
        #expect(fired.evidence.threshold == Fraction(1, 20))
    }

    @Test("nothing fires before the 15th minute, whatever the height of the step", arguments: [6, 8, 10, 100] as [Int64])
    func oneMinuteEarlier(percent: Int64) {
        #expect(Make.firings(Make.outage(), [(60, 100, 0), (14, 100, percent)]) == [])
    }

    @Test("exactly the threshold never fires, and the least bit above does")
    func exactly() {
        #expect(Make.firings(Make.outage(), [(60, 100, 0), (1440, 100, 5)]) == [])
        #expect(Make.firings(Make.outage(), [(60, 100_000, 0), (1440, 100_000, 5000)]) == [])
        #expect(Make.firings(Make.outage(), [(60, 100_000, 0), (60, 100_000, 5001)]) == [75])
        #expect(Make.firings(Make.auth(), [(60, 100, 0), (1440, 100, 1)]) == [])
        #expect(Make.firings(Make.auth(), [(60, 100_000, 0), (60, 100_000, 1001)]) == [70])
    }

    @Test("a share above the threshold that chance may explain does not fire; the same share of ten times as many does")
    func chance() {
        let unguarded = Make.outage { $0.guardConfidence = nil }
        #expect(Make.firings(Make.outage(), [(60, 15, 0), (240, 15, 1)]) == [])
        #expect(Make.firings(unguarded, [(60, 15, 0), (240, 15, 1)]) == [76], "it is chance that holds it back")
        #expect(Make.firings(Make.outage(), [(60, 150, 0), (240, 150, 10)]) == [75])
        #expect(Make.firings(Make.auth(), [(60, 80, 0), (240, 80, 1)]) == [])
        #expect(Make.firings(Make.auth(), [(60, 800, 0), (240, 800, 10)]) == [70])
    }

    @Test("one failure of three never fires, nor do nine failures of nine")
    func lowVolume() {
        #expect(Make.firings(Make.outage(), [(60, 0, 0), (1, 3, 1), (60, 0, 0)]) == [])
        #expect(Make.firings(Make.outage(), [(20, 0, 0), (1, 1, 1), (1, 1, 0), (1, 1, 0), (60, 0, 0)]) == [])
        #expect(Make.firings(Make.outage(), [(60, 1, 0), (9, 1, 1), (60, 0, 0)]) == [])
        #expect(Make.firings(Make.outage(), [(60, 0, 0), (9, 1, 1), (60, 0, 0)]) == [])
    }

    @Test("auth at 1 % for 10 m fires at minute 10, even at two attempts a minute")
    func auth() {
        #expect(Make.firings(Make.auth(), [(60, 200, 0), (30, 200, 4)]) == [70])
        #expect(Make.firings(Make.auth(), [(60, 2, 0), (30, 2, 2)]) == [70])
        #expect(Make.firings(Make.auth(), [(60, 200, 0), (9, 200, 4)]) == [])
    }

    @Test("up to three good minutes in the window do not keep it from firing; four do", arguments: [0, 1, 2, 3, 4])
    func quorum(goodMinutes: Int) {
        // Smoothing off, so that the quorum alone decides.
        let rule = Make.outage { $0.smooth = RuleDuration(minutes: 1) }
        var minutes = Make.counts([(60, 100, 0), (15, 100, 10)])
        for index in 0..<goodMinutes { minutes[62 + 3 * index] = AttemptCounts(attempts: 100, bad: 0) }
        let history = GroupHistory(series: MinuteSeries(first: Make.start, minutes: minutes))
        let fired = Make.transitions(rule, history).map { $0.firedAt - Make.start }
        #expect(fired == (goodMinutes <= 3 ? [75] : []))
    }

    @Test("a good minute after firing does not resolve")
    func goodMinuteWhileFiring() {
        let transitions = Make.transitions(Make.outage(), Make.history([(60, 100, 0), (20, 100, 10), (1, 100, 0), (20, 100, 10)]))
        #expect(transitions.map(\.kind) == [.fired])
    }

    @Test("one minute at 100 % every six hours never fires", arguments: [2, 20, 200] as [Int64])
    func blip(rate: Int64) {
        let day = Array(repeating: [(359, rate, Int64(0)), (1, rate, rate)], count: 8).flatMap { $0 }
        #expect(Make.firings(Make.outage(), day.map { (minutes: $0.0, attempts: $0.1, bad: $0.2) }) == [])
    }

    @Test("five minutes off and five on fires at minute 15")
    func halfOutage() {
        let runs = [(60, 0), (5, 20), (5, 0), (5, 20), (5, 0), (5, 20)].map { (minutes: $0.0, attempts: Int64(20), bad: Int64($0.1)) }
        #expect(Make.firings(Make.outage(), runs) == [75])
    }

    @Test("the verdict on a minute depends on it and its neighbours")
    func verdicts() throws {
        let ratio = try #require(Make.outage().condition.ratio)
        let series = Make.series([(5, 0, 0), (1, 100, 1), (1, 100, 40), (1, 100, 0), (4, 0, 0), (5, 0, 0)])
        let verdicts = (0..<15).map { ratio.verdict(on: Make.start + $0, in: series) }
        #expect(
            verdicts == [
                .blank, .blank, .blank, .blank, .blank, .ok, .breach, .breach, .breach, .breach, .breach, .ok, .blank, .blank, .blank,
            ]
        )
    }
}
