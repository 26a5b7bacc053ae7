import AlertRules
import Alerting
import Foundation
import PushContract
import Testing

@testable import OnCall

#if canImport(FoundationXML)
    import FoundationXML
#endif

@Suite("A rule's four weeks")
struct RuleTimelineChartTests {
    private static let now = Timestamp(rfc3339: "2026-03-10T12:41:07Z")!
    private static let last = Minute(now.flooredToMinute().minute - 1)

    /// One alert of an hour a week ago, and one that fires since 30 minutes.
    private static func entry(historyDays: Int? = 40) throws -> BacktestCache.Entry {
        let rule = OnCallRoutesTests.rules.rules[0]
        let first = last - 14 * 1_440
        let isBad = { (minute: Minute) in (first + 7 * 1_440..<first + 7 * 1_440 + 60).contains(minute) || minute > last - 45 }
        let series = MinuteSeries(
            first: first,
            minutes: (0...14 * 1_440).map { AttemptCounts(attempts: 100, bad: isBad(first + $0) ? 20 : 0) }
        )
        let group = GroupKey([.provider: "fcm"])
        let history = GroupHistory(group: group, strata: [StratumHistory(key: group, series: series, days: [])])
        let span = BacktestSpan(since: last - 28 * 1_440 + 1, last: last)
        return BacktestCache.Entry(
            span: span,
            historySince: historyDays.map { last - $0 * 1_440 + 1 },
            alerts: RuleBacktest.alerts(of: rule, [history], from: first, span: span),
            computedAt: now - .seconds(720)
        )
    }

    @Test("a queue for what the rule would have raised, one for what was raised, and both in words")
    func rows() throws {
        let entry = try Self.entry()
        try #require(entry.alerts.count == 2)
        let past = [
            RulesData.Past(
                id: "1",
                rule: "R",
                group: "all",
                firedAt: Self.now - .seconds(86_400),
                resolvedAt: Self.now - .seconds(80_000),
                verdict: "noise"
            )
        ]
        let svg = RuleTimelineChart(past: past, backtest: entry, now: Self.now).svg(rule: "R<1>", id: "rule-0")
        let parser = XMLParser(data: Data(svg.utf8))
        #expect(parser.parse(), "\(svg)")
        #expect(svg.components(separatedBy: "class=\"spell would\"").count == 3)
        #expect(svg.components(separatedBy: "class=\"spell noise\"").count == 2)
        // The one that still fires ends at the right edge; the one of last week lies in the middle.
        #expect(svg.contains("class=\"spell would\" x=\"75.0"))
        #expect(
            svg.contains(
                "R&lt;1&gt;: 1 alert was raised in 28 days, 1 marked as noise, the latest 1 d ago. Backtest of 28 days: 2 alerts, firing for "
            )
        )
        #expect(svg.contains("in all; made 12 min ago."))
    }

    @Test("no history, some days of it, no alert and nothing computed yet are distinguished")
    func words() throws {
        #expect(BacktestWords.text(nil, now: Self.now).hasPrefix("Not computed yet"))
        #expect(BacktestWords.text(try Self.entry(historyDays: nil), now: Self.now) == "No attempts are stored to backtest it on.")
        #expect(
            BacktestWords.text(try Self.entry(historyDays: 2), now: Self.now).hasPrefix("Backtest of the 2 d that are stored: 2 alerts")
        )
        var quiet = try Self.entry()
        quiet.alerts = []
        #expect(BacktestWords.text(quiet, now: Self.now) == "Backtest of 28 days: no alert; made 12 min ago.")
    }
}
