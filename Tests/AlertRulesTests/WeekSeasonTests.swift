import AlertRules
import Foundation
import Testing

@Suite("baseline/1 by the hour of the week")
struct WeekSeasonTests {
    /// 2026-02-23, a Monday; on 29 March clocks in Berlin go from +1 to +2.
    private static let start = moment("2026-02-23T00:00:00Z")
    private static let key = GroupKey([.provider: "apns", .platform: "ios", .environment: "production", .pushType: "alert"])

    private static func moment(_ text: String) -> Minute {
        Minute(containingSecond: Int64(ISO8601DateFormatter().date(from: text)?.timeIntervalSince1970 ?? 0))
    }

    private static func rule(zone: String?) -> AlertRule {
        Make.spike {
            $0.seasonality = zone.flatMap { WeekSeason(zone: $0) }
            $0.ladder = []
        }
    }

    /// A hundred attempts a minute of which one fails; in the spans eight fail.
    private static func history(
        weeks: Int,
        bad spans: [(from: Minute, minutes: Int)],
        fault: (from: Minute, minutes: Int, bad: Int64)? = nil
    )
        -> GroupHistory
    {
        var counts = Array(repeating: AttemptCounts(attempts: 100, bad: 1), count: weeks * 7 * 1440)
        for span in spans {
            for offset in 0..<span.minutes where counts.indices.contains(span.from - start + offset) {
                counts[span.from - start + offset].bad = 8
            }
        }
        if let fault {
            for offset in 0..<fault.minutes { counts[fault.from - start + offset].bad = fault.bad }
        }
        let series = MinuteSeries(first: start, minutes: counts)
        return GroupHistory(group: GroupKey(), strata: [StratumHistory(key: key, series: series, withHours: true)])
    }

    /// What fires after the first three weeks and a day, in which not enough weeks are known.
    private func firings(_ rule: AlertRule, _ history: GroupHistory, after: Minute = start + 22 * 1440) -> [Minute] {
        RuleEvaluation.fold(rule, history, from: AlertState(asOf: Self.start - 1), through: history.total.end - 1).transitions
            .filter { $0.kind == .fired && $0.minute >= after }.map(\.minute)
    }

    @Test("the hours are those of the same wall clock, in winter and in summer, and over the end of the week")
    func hours() throws {
        let berlin = try #require(WeekSeason(zone: "Europe/Berlin"))
        // Sunday 2026-03-29 is the day of the change. The week before, 20:00 there was 19:00 UTC; since then it is 18:00 UTC.
        let evening = Self.moment("2026-03-29T18:00:00Z")
        let before = berlin.hours(from: evening, through: evening + 59, back: 1)
        #expect(before == Self.moment("2026-03-22T18:00:00Z").index / 60...Self.moment("2026-03-22T20:00:00Z").index / 60)
        // A week later both lie in summer, and four weeks back in winter again.
        let later = Self.moment("2026-04-05T18:00:00Z")
        #expect(berlin.hours(from: later, through: later + 59, back: 1).lowerBound == Self.moment("2026-03-29T17:00:00Z").index / 60)
        #expect(berlin.hours(from: later, through: later + 59, back: 4).lowerBound == Self.moment("2026-03-08T18:00:00Z").index / 60)
        // In autumn, by the same rule: 20:00 in Berlin is 19:00 UTC again on 25 October.
        let autumn = Self.moment("2026-10-25T19:00:00Z")
        #expect(berlin.hours(from: autumn, through: autumn + 59, back: 1).lowerBound == Self.moment("2026-10-18T17:00:00Z").index / 60)
        // From Sunday into Monday by UTC.
        let utc = try #require(WeekSeason(zone: "UTC"))
        let wrap = Self.moment("2026-03-29T23:30:00Z")
        let hours = utc.hours(from: wrap, through: wrap + 59, back: 1)
        #expect(hours == Self.moment("2026-03-22T22:00:00Z").index / 60...Self.moment("2026-03-23T01:00:00Z").index / 60)
        #expect(WeekSeason(zone: "Atlantis/Capital") == nil)
    }

    /// Three hours each Sunday evening by the clock of Berlin.
    private static let evenings: [(from: Minute, minutes: Int)] = (0..<8).map { week in
        let winter = moment("2026-03-01T18:00:00Z") + week * 7 * 1440
        return (winter >= moment("2026-03-29T00:00:00Z") ? winter - 60 : winter, 180)
    }

    @Test("what happens every Sunday evening is usual, across the change of the clock; whole days find it each time")
    func summerTime() {
        let history = Self.history(weeks: 7, bad: Self.evenings)
        #expect(firings(Self.rule(zone: "Europe/Berlin"), history) == [])
        #expect(firings(Self.rule(zone: nil), history).count >= 3)
    }

    @Test("a real fault is found in a usual evening and in a quiet hour, on the day of the change too")
    func faults() {
        for from in ["2026-03-29T18:00:00Z", "2026-03-29T10:00:00Z", "2026-03-31T10:00:00Z"].map(Self.moment) {
            let bad: Int64 = from == Self.moment("2026-03-29T18:00:00Z") ? 60 : 20
            let history = Self.history(weeks: 7, bad: Self.evenings, fault: (from, 120, bad))
            let found = firings(Self.rule(zone: "Europe/Berlin"), history)
            #expect(found.count == 1 && (0..<60).contains((found.first ?? Self.start) - from), "\(from): \(found)")
        }
    }

    @Test("from Sunday into Monday: the end of the week is no edge")
    func weekWrap() {
        let nights = (0..<6).map { week in (from: Self.moment("2026-03-01T22:30:00Z") + week * 7 * 1440, minutes: 180) }
        let history = Self.history(weeks: 6, bad: nights)
        #expect(firings(Self.rule(zone: "UTC"), history) == [])
        #expect(firings(Self.rule(zone: nil), history).count >= 2)
    }

    @Test("as long as fewer than three weeks are known, days teach it")
    func fewWeeks() {
        let history = Self.history(weeks: 3, bad: Self.evenings)
        let season = firings(Self.rule(zone: "Europe/Berlin"), history, after: Self.start)
        #expect(season == firings(Self.rule(zone: nil), history, after: Self.start) && !season.isEmpty)
    }
}
