import AlertRules
import Alerting
import Foundation
import Testing

#if canImport(FoundationXML)
    import FoundationXML
#endif

@Suite("What a backtest shows")
struct BacktestReportTests {
    private var report: BacktestReport {
        let bad = { (offset: Int) -> Int64 in (300..<360).contains(offset) || offset >= 1380 ? 20 : 0 }
        let series = MinuteSeries(first: Traffic.start, minutes: (0..<1440).map { AttemptCounts(attempts: 100, bad: bad($0)) })
        let group = GroupKey([.provider: "fcm"])
        let history = GroupHistory(group: group, strata: [StratumHistory(key: group, series: series, days: [])])
        let span = BacktestSpan(since: Traffic.start, last: Traffic.start + 1439)
        let alerts = RuleBacktest.alerts(of: Rules.provider5xx, [history], from: span.since, span: span)
        return BacktestReport(span: span, results: [.init(rule: Rules.provider5xx, alerts: alerts, groups: [group])])
    }

    @Test("in a terminal: a timeline and a line for each alert")
    func text() {
        let expected = """
            2026-01-05 12:00 UTC … 2026-01-06 12:00 UTC: 1d

            ProviderUnavailable  2 alerts, 100 min  [page]
              provider=fcm ·····█▌················█
                provider=fcm  since 2026-01-05 17:00 UTC, fired 2026-01-05 17:15 UTC, resolved 2026-01-05 18:10 UTC, 55 min, worst 20 % (page)
                provider=fcm  since 2026-01-06 11:00 UTC, fired 2026-01-06 11:15 UTC, still firing, 45 min, worst 20 % (page)

            1 rules, 2 alerts, 2 of them would have paged
            """
        #expect(report.text(width: 42) == expected)
    }

    @Test("as JSON: times, minutes and the numbers that made it fire")
    func json() throws {
        let object = try #require(try JSONSerialization.jsonObject(with: Data(report.json().utf8)) as? [String: Any])
        let rule = try #require((object["rules"] as? [[String: Any]])?.first)
        let alert = try #require((rule["alerts"] as? [[String: Any]])?.first)
        #expect(object["since"] as? String == "2026-01-05T12:00:00Z" && rule["minutes"] as? Int == 100)
        #expect(alert["firedAt"] as? String == "2026-01-05T17:15:00Z" && alert["minutes"] as? Int == 55)
        #expect((alert["evidence"] as? [String: Any])?["observedText"] as? String == "20 %")
    }

    @Test("as a page: nothing is loaded from elsewhere, and a bar for each alert")
    func page() {
        let html = report.html
        #expect(!html.contains("<script") && !html.contains("http"))
        #expect(html.components(separatedBy: "<rect class=\"page\"").count == 3)
        #expect(html.contains("<td>still firing</td>"))
    }

    @Test("as a picture: well-formed, with a bar for each alert and the rule's name")
    func picture() throws {
        let parser = XMLParser(data: Data(report.svg.utf8))
        #expect(parser.parse(), "\(String(describing: parser.parserError))")
        #expect(report.svg.components(separatedBy: "<rect class=\"page\"").count == 3)
        #expect(report.svg.contains("ProviderUnavailable: 2 alerts, 100 min, severity page"))
    }

    @Test("an alert that one version splits in two: the second half is gained")
    func split() throws {
        let whole = try #require(report.results[0].alerts.first)
        var first = whole
        first.resolved?.minute = whole.firedAt + 10
        var second = whole
        second.fired.startsAt = whole.firedAt + 20
        second.fired.firedAt = whole.firedAt + 30
        let difference = RuleDifference(name: "x", old: [whole], new: [first, second], through: report.span.last)
        #expect(difference.gained == [second] && difference.lost.isEmpty && difference.moved.count == 1)
    }
}
