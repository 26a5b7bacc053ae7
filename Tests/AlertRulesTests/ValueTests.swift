import Testing

@testable import AlertRules

@Suite("Values of rules")
struct ValueTests {
    @Test(
        "shares are exact",
        arguments: [("5%", 1, 20), ("0.5 %", 1, 200), ("0.05", 1, 20), ("3/4", 3, 4), ("100%", 1, 1), ("0.000001", 1, 1_000_000)]
            as [(String, Int64, Int64)]
    )
    func shares(text: String, numerator: Int64, denominator: Int64) {
        #expect(Fraction(share: text) == Fraction(numerator, denominator))
    }

    @Test(
        "what is no share is none",
        arguments: ["", "%", "-1%", "5 percent", "1e-3", "0.0000001", "1/0", "1/2/3", ".5", "5.", "１%", "+1", "0x1"]
    )
    func noShares(text: String) { #expect(Fraction(share: text) == nil) }

    @Test("multiples end in x")
    func multiples() {
        #expect(Fraction(multiple: "3x") == Fraction(3, 1))
        #expect(Fraction(multiple: "2.5 x") == Fraction(5, 2))
        #expect(Fraction(multiple: "3") == nil && Fraction(multiple: "x") == nil)
    }

    @Test("apps that Unicode takes for the same text are of different groups: neither counts for, or suppresses, the other's alerts")
    func equivalentApps() {
        // U+212A, the Kelvin sign, is canonically equivalent to K.
        let (letter, sign) = (GroupKey([.provider: "apns", .app: "Kim"]), GroupKey([.provider: "apns", .app: "\u{212A}im"]))
        #expect(letter != sign && letter < sign && Set([letter, sign, letter]).count == 2)
        #expect(letter == GroupKey([.app: "Kim", .provider: "apns"]) && letter != GroupKey([.provider: "apns"]))
        let filter = AttemptFilter([.app: ["Kim"]])
        #expect(filter.admits(letter) && !filter.admits(sign))
        func isSuppressed(by group: GroupKey) -> Bool {
            let cause = Suppression.Span(rule: "Cause", group: group, startsAt: Minute(0), firedAt: Minute(10))
            let consequence = Suppression.Span(rule: "Consequence", group: letter, startsAt: Minute(5), firedAt: Minute(15))
            return Suppression.suppresses(cause, consequence, lastSet: Minute(14), at: Minute(14))
        }
        #expect(isSuppressed(by: letter) && isSuppressed(by: GroupKey([.provider: "apns"])) && !isSuppressed(by: sign))
    }

    @Test("durations are whole minutes", arguments: [("15m", 15), ("2h", 120), ("1h30m", 90), ("7d", 10_080), ("1w", 10_080)])
    func durations(text: String, minutes: Int) { #expect(RuleDuration(text)?.minutes == minutes) }

    @Test(
        "what is no duration is none",
        arguments: ["", "15", "m", "0m", "15s", "1.5h", "-5m", "99999999999999999999m", "2y", "400d", "٣m"]
    )
    func noDurations(text: String) { #expect(RuleDuration(text) == nil) }

    @Test("durations are written as they are read")
    func durationText() {
        #expect(
            [15, 60, 90, 1440, 10_080, 1501].map { RuleDuration(minutes: $0).description } == ["15m", "1h", "1h30m", "1d", "7d", "1d1h1m"]
        )
    }

    @Test(
        "minutes are written in UTC",
        arguments: [
            (0, "1970-01-01 00:00 UTC"), (28_401_120, "2024-01-01 00:00 UTC"), (28_485_963, "2024-02-28 22:03 UTC"),
            (28_487_520, "2024-02-29 23:60 UTC"), (-1, "1969-12-31 23:59 UTC"),
        ] as [(Int64, String)]
    )
    func minutes(index: Int64, text: String) {
        if text.contains(":60") { return #expect(Minute(index).description == "2024-03-01 00:00 UTC") }
        #expect(Minute(index).description == text)
    }

    @Test("a minute has its second and its day")
    func minuteParts() {
        #expect(Minute(containingSecond: 119) == Minute(1) && Minute(containingSecond: -1) == Minute(-1))
        #expect(Minute(2).second == 120 && Minute(1440).day == 1 && Minute(-1).day == -1)
    }

    @Test("a window sums the minutes within it, and nothing outside the series")
    func windows() {
        let series = MinuteSeries([
            MinuteCounts(minute: Minute(12), attempts: 4, bad: 1), MinuteCounts(minute: Minute(10), attempts: 1, bad: 1),
            MinuteCounts(minute: Minute(10), attempts: 2, bad: 0),
        ])
        #expect(series.first == Minute(10) && series.end == Minute(13))
        #expect(series[Minute(10)] == AttemptCounts(attempts: 3, bad: 1) && series[Minute(11)] == AttemptCounts())
        #expect(series.window(endingAt: Minute(12), minutes: 3) == AttemptCounts(attempts: 7, bad: 2))
        #expect(series.window(endingAt: Minute(100), minutes: 5) == AttemptCounts())
        #expect(series.window(endingAt: Minute(1), minutes: 5) == AttemptCounts())
        #expect(series.window(endingAt: Minute(20), minutes: 1000) == AttemptCounts(attempts: 7, bad: 2))
        #expect(series.lastAttempt(through: Minute(11)) == Minute(10) && series.lastAttempt(through: Minute(9)) == nil)
        #expect(series.firstAttempt == Minute(10))
        #expect(MinuteSeries([]).isEmpty && MinuteSeries([])[Minute(5)] == AttemptCounts())
    }

    @Test(
        "Poisson's tail",
        arguments: [(Int64(0), 3.0, 1.0), (1, 0.0, 0.0), (31, 15, 2.0e-4), (10, 10, 0.5420703), (5, 10, 0.9707473), (3, 0.1, 1.5465e-4)]
    )
    func poisson(count: Int64, mean: Double, probability: Double) {
        let observed = PoissonTail.probability(atLeast: count, mean: mean)
        #expect(abs(observed - probability) <= 0.05 * probability + 1e-12, "\(observed)")
    }

    @Test("Poisson's tail stays a probability far out")
    func poissonFar() {
        for (count, mean) in [(1_000_000, 10.0), (10, 1e6), (1_000_000, 1e6), (100_000_000, 1e8)] as [(Int64, Double)] {
            let probability = PoissonTail.probability(atLeast: count, mean: mean)
            #expect((0...1).contains(probability))
        }
    }

    @Test("Wilson's lower bound")
    func wilson() {
        #expect(WilsonBound.percent99.lowerBound(AttemptCounts()) == 0)
        #expect(WilsonBound.percent95.lowerBound(AttemptCounts(attempts: 10, bad: 0)) < 1e-12)
        #expect(abs(WilsonBound.percent95.lowerBound(AttemptCounts(attempts: 10, bad: 10)) - 0.78706) < 1e-4)
        #expect(
            WilsonBound.percent999.lowerBound(.init(attempts: 300, bad: 21))
                < WilsonBound.percent99.lowerBound(.init(attempts: 300, bad: 21))
        )
    }

    @Test("rates in words become counts in minutes")
    func rates() throws {
        #expect(
            try RateNotation.counts("3/1x2 _ 5") == [
                .init(attempts: 3, bad: 1), .init(attempts: 3, bad: 1), .init(), .init(attempts: 5, bad: 0),
            ]
        )
        let spread = try RateNotation.counts("10/0.25x1h, 2/50%x2")
        #expect(spread.count == 62 && spread.prefix(60).reduce(0) { $0 + $1.bad } == 15 && spread[61].bad == 1)
        for text in [
            "", "x", "3/", "3/4", "3x0", "axb", "1x2x3", "1x61d", "1/x3", "-1x3", "999999999x2", "999999999.999999/999999999.999999%",
        ] {
            #expect(throws: RateNotation.Fault.self, "\(text)") { try RateNotation.counts(text) }
        }
    }

    @Test("a stratum's days are counted by the hours of UTC")
    func days() {
        let series = MinuteSeries(first: Minute.firstOf(day: 5), minutes: Array(repeating: AttemptCounts(attempts: 2, bad: 1), count: 2000))
        let days = StratumHistory(key: GroupKey(), series: series).days
        let hour = AttemptCounts(attempts: 120, bad: 60)
        let first = [AttemptCounts](repeating: hour, count: 24)
        let second = [AttemptCounts](repeating: hour, count: 9) + [AttemptCounts(attempts: 40, bad: 20)]
        let rest = [AttemptCounts](repeating: AttemptCounts(), count: 14)
        #expect(days == [DayCounts(day: 5, hours: first), DayCounts(day: 6, hours: second + rest)])
        #expect(days.map(\.counts.bad) == [1440, 560])
    }
}
