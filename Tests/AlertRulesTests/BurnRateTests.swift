import AlertRules
import Testing

/// Defined in alerts/README.md.
@Suite("burn-rate/1")
struct BurnRateTests {
    /// 14.4 times as fast as 99.9 % allows, over an hour and five minutes: a share of 1.44 %.
    private static func rule(_ change: (inout BurnRateCondition) -> Void = { _ in }) throws -> AlertRule {
        var condition = try #require(
            BurnRateCondition(
                reasons: ["network", "provider_5xx"],
                objective: Fraction(999, 1000),
                rate: Fraction(144, 10),
                long: RuleDuration(minutes: 60),
                short: RuleDuration(minutes: 5)
            )
        )
        change(&condition)
        return Make.rule(.burnRate(condition))
    }

    @Test("it fires in the minute in which the long window is above the rate too, and not at the rate")
    func fires() throws {
        let rule = try Self.rule()
        #expect(rule.condition.threshold == Fraction(144, 10_000))
        // 6,000 attempts an hour: the 87th failure is the first above 86.4.
        #expect(Make.firings(rule, [(120, 100, 0), (60, 100, 10)]) == [129])
        #expect(Make.firings(rule, [(120, 100, 0), (60, 100, 100)]) == [121], "everything fails: a minute of the hour")
        #expect(Make.firings(rule, [(120, 10_000, 10), (600, 10_000, 144), (60, 10_000, 10)]) == [], "exactly 14.4 times")
        #expect(Make.firings(rule, [(120, 10_000, 10), (600, 10_000, 145), (60, 10_000, 10)]).count == 1)
    }

    @Test("an incident that is over does not page: the short window must still be bad")
    func over() throws {
        // Three minutes of outage, before the long window has enough attempts: when it has, the short one is good.
        let late = try Self.rule { $0.minAttempts = 4000 }
        #expect(Make.firings(late, [(3, 100, 100), (100, 80, 0)]) == [])
        #expect(Make.firings(late, [(3, 100, 100), (100, 80, 2)]).count == 1)
    }

    @Test("a handful never pages, whatever its share", arguments: [1, 2, 9] as [Int64])
    func handful(_ failures: Int64) throws {
        let rule = try Self.rule()
        #expect(Make.firings(rule, [(60, 3, 0), (1, failures, failures), (60, 3, 0)]) == [])
        // Ninety-nine attempts in an hour are too few, all of them failed.
        #expect(Make.firings(rule, [(60, 0, 0), (11, 9, 9), (600, 0, 0)]) == [])
        #expect(Make.firings(rule, [(60, 0, 0), (11, 10, 10), (600, 0, 0)]) == [70])
    }

    @Test("it ends when the short window was good for its length and the incident would have shown; silence ends nothing")
    func ends() throws {
        let rule = try Self.rule()
        let fault: [(Int, Int64, Int64)] = [(120, 100, 0), (30, 100, 10)]
        // The last short window with a failure ends after four good minutes, the next five are good.
        #expect(Make.story(rule, fault + [(60, 100, 0)]) == ["fired 129", "resolved 159"])
        #expect(Make.story(rule, fault + [(600, 0, 0)]) == ["fired 129"])
        // At ten a minute, two hundred good attempts prove nothing against 1.44 %, four hundred do.
        #expect(Make.story(rule, fault + [(120, 10, 0)]) == ["fired 129", "resolved 194"])
    }

    @Test("what begins again while the long window includes the incident is the same alert; later it is another")
    func again() throws {
        let rule = try Self.rule()
        let fault: [(Int, Int64, Int64)] = [(120, 100, 0), (30, 100, 10)]
        let soon = Make.story(rule, fault + [(30, 100, 0), (10, 100, 10), (60, 100, 0)])
        #expect(soon.map { $0.split(separator: " ")[0] } == ["fired", "resolved", "reopened", "resolved"])
        let later = Make.story(rule, fault + [(120, 100, 0), (30, 100, 10), (60, 100, 0)])
        #expect(later.map { $0.split(separator: " ")[0] } == ["fired", "resolved", "fired", "resolved"])
    }

    @Test("the beginning is where the failures began, not where the long window does")
    func begin() throws {
        let runs: [(Int, Int64, Int64)] = [(10, 100, 1), (110, 100, 0), (30, 100, 10)]
        let fired = try #require(Make.transitions(try Self.rule(), Make.history(runs)).first)
        #expect(fired.startsAt == Make.start + 120)
        #expect(fired.evidence.observed.counts == AttemptCounts(attempts: 6000, bad: 90))
        #expect(fired.evidence.observedText == "1.5 %" && fired.evidence.thresholdText == "1.44 %")
    }

    @Test("what can never fire, and what cannot be compared exactly, is no condition")
    func impossible() {
        func make(_ objective: Fraction, _ rate: Fraction) -> BurnRateCondition? {
            BurnRateCondition(
                reasons: ["auth"],
                objective: objective,
                rate: rate,
                long: RuleDuration(minutes: 60),
                short: RuleDuration(minutes: 5)
            )
        }
        #expect(make(Fraction(9, 10), Fraction(10, 1)) == nil, "all attempts would have to fail, and more")
        #expect(make(Fraction(9, 10), Fraction(99, 10)) != nil)
        #expect(make(Fraction(99_999_999, 100_000_000), Fraction(1_000_001, 1_000_000)) == nil)
        #expect(make(Fraction(1, 1), Fraction(1, 1)) == nil)
    }
}
