import AlertRules
import Testing

/// Defined in alerts/README.md.
@Suite("traffic-drop/1")
struct TrafficDropTests {
    private static let week = 7 * 1440
    /// Below half of what is usual, within fifteen minutes.
    private static func rule(_ change: (inout TrafficDropCondition) -> Void = { _ in }) -> AlertRule {
        var condition = TrafficDropCondition(below: Fraction(1, 2), for: RuleDuration(minutes: 15))
        change(&condition)
        return Make.rule(.trafficDrop(condition))
    }

    /// Four weeks of `usual` attempts a minute, then what is given.
    private static func after(usual: Int64 = 10, _ runs: [(Int, Int64)]) -> GroupHistory {
        let present = runs.map { (minutes: $0.0, attempts: $0.1, bad: Int64(0)) }
        return Make.history([(minutes: 4 * week, attempts: usual, bad: 0)] + present)
    }

    /// With minutes counted from the end of the four weeks.
    private static func story(_ rule: AlertRule, _ history: GroupHistory) -> [String] {
        Make.transitions(rule, history).map { "\($0.kind.rawValue) \($0.minute + 1 - Make.start - 4 * week)" }
    }

    @Test("no traffic fires when half of the time is missing, and resolves when it is back; a third of it does the same")
    func drops() {
        #expect(Self.story(Self.rule(), Self.after([(60, 10), (120, 0), (60, 10)])) == ["fired 68", "resolved 198"])
        #expect(Self.story(Self.rule(), Self.after([(60, 10), (120, 3), (60, 10)])) == ["fired 71", "resolved 196"])
        #expect(Self.story(Self.rule(), Self.after([(60, 10), (120, 5), (60, 10)])) == [], "exactly half is not below half")
        #expect(Self.story(Self.rule(), Self.after([(60, 10), (7, 0), (60, 10)])) == [], "seven minutes are less than half of fifteen")
    }

    @Test("below 1 % it is no traffic at all")
    func none() {
        let rule = Self.rule { $0 = TrafficDropCondition(below: Fraction(1, 100), for: RuleDuration(minutes: 15)) }
        #expect(Self.story(rule, Self.after([(60, 10), (120, 0), (60, 10)])) == ["fired 75", "resolved 195"])
        #expect(Self.story(rule, Self.after([(60, 10), (14, 0), (1, 2), (14, 0), (60, 10)])) == [], "two attempts are some")
    }

    @Test("nights and weekends are compared with nights and weekends, and an hour's shift of the clock is no drop")
    func nights() {
        /// Mondays to Fridays ten a minute from 6 to 22 o'clock; at night one in five minutes, on weekends two a minute.
        func minutes(weeks: Int, shifted: Int = 0) -> [AttemptCounts] {
            (0..<weeks * Self.week).map { minute in
                let day = minute / 1440 % 7
                let hour = (minute % 1440 + shifted) / 60
                let isDay = (6..<22).contains(hour)
                let attempts: Int64 = isDay ? (day < 5 ? 10 : 2) : (minute % 5 == 0 ? 1 : 0)
                return AttemptCounts(attempts: attempts, bad: 0)
            }
        }
        func story(_ minutes: [AttemptCounts]) -> [String] {
            Self.story(Self.rule(), GroupHistory(series: MinuteSeries(first: Make.start, minutes: minutes)))
        }
        #expect(story(minutes(weeks: 7)) == [])
        #expect(story(minutes(weeks: 4) + minutes(weeks: 2, shifted: 60)) == [])
        #expect(story(minutes(weeks: 4) + minutes(weeks: 2, shifted: -60)) == [])
        // On a Tuesday the traffic of a weekend is a drop.
        var outage = minutes(weeks: 5)
        for minute in 4 * Self.week + 1440 + 600..<4 * Self.week + 1440 + 720 { outage[minute].attempts = 2 }
        #expect(story(outage).map { $0.split(separator: " ")[0] } == ["fired", "resolved"])
    }

    @Test("before three of four weeks are known nothing fires, and one unusual week is not what is usual")
    func learning() {
        func story(_ weeks: [Int64]) -> [String] {
            let past = weeks.map { (minutes: Self.week, attempts: $0, bad: Int64(0)) }
            return Self.story(Self.rule(), Make.history(past + [(120, 10, 0), (60, 0, 0)]))
        }
        #expect(story([0, 0, 10, 10]) == [])
        #expect(story([0, 10, 10, 10]) == ["fired 128"])
        #expect(story([10, 10, 10, 40]) == ["fired 128"], "four times the traffic in one week")
        #expect(story([40, 0, 10, 10]) == ["fired 128"], "an outage in another")
    }

    @Test("where hardly anything is usual nothing fires: twenty-nine in fifteen minutes are too few, and so are few missing by chance")
    func fewUsual() {
        func story(_ usual: Int64, _ change: (inout TrafficDropCondition) -> Void = { _ in }) -> [String] {
            Self.story(Self.rule(change), Self.after(usual: usual, [(60, usual), (120, 0)]))
        }
        #expect(story(1) == [] && story(2) == ["fired 71"])
        #expect(story(2) { $0.minUsual = 31 } == [])
        // Two thirds of 45 may be chance, of three hundred not.
        let slight = Self.rule { $0 = TrafficDropCondition(below: Fraction(8, 10), for: RuleDuration(minutes: 15)) }
        #expect(Self.story(slight, Self.after(usual: 20, [(60, 20), (120, 14)])).count == 1)
        #expect(Self.story(slight, Self.after(usual: 3, [(60, 3), (120, 2)])) == [])
    }

    @Test("in low traffic the end takes longer to prove, and without traffic there is none")
    func ends() {
        let rule = Self.rule {
            $0 = TrafficDropCondition(below: Fraction(1, 2), for: RuleDuration(minutes: 10))
            $0.minUsual = 20
        }
        // Twenty attempts in ten minutes could be the half of what is usual by chance, forty in twenty could not.
        #expect(Self.story(rule, Self.after(usual: 2, [(60, 2), (120, 0), (120, 2)])) == ["fired 69", "resolved 201"])
        #expect(Self.story(rule, Self.after(usual: 20, [(60, 20), (120, 0), (120, 20)])) == ["fired 66", "resolved 192"])
        #expect(Self.story(Self.rule(), Self.after([(60, 10), (3 * 1440, 0)])) == ["fired 68"])
    }

    @Test("traffic that never comes back is usual after the weeks that remember it, and a week more")
    func forever() {
        let story = Self.story(Self.rule(), Self.after([(60, 10), (6 * Self.week, 0)]))
        #expect(story.count == 2 && story[0] == "fired 68")
        // Two of four weeks without it make the lower median nothing, an hour before the two weeks are over.
        #expect(story[1] == "resolved \(3 * Self.week + 6)", "\(story)")
    }

    @Test("the evidence is what was attempted and what is usual; the beginning is the first minute that misses some")
    func evidence() throws {
        let transitions = Make.transitions(Self.rule(), Self.after([(60, 10), (120, 2), (60, 10)]))
        let fired = try #require(transitions.first)
        #expect(fired.startsAt == Make.start + 4 * Self.week + 60)
        #expect(fired.evidence.observed.counts.bad == 0 && fired.evidence.expected == 150)
        #expect(fired.evidence.thresholdText == "50 % of the usual")
        let over = try #require(transitions.last)
        #expect(over.evidence.worst.counts.attempts == 30 && over.evidence.worstText == "30 attempts, 20 % of the usual")
    }
}
