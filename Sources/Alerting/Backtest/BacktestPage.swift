import AlertRules
import PushContract
import ServiceKit

/// A backtest as one self-contained HTML file: a row for each group, drawn as SVG, and a table of the alerts.
struct BacktestPage {
    let report: BacktestReport

    static let width = 960
    private static let rowHeight = 22

    var html: String {
        """
        <!doctype html>
        <html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
        <title>Backtest of alert rules</title>
        <style>
        :root { color-scheme: light dark; --page: #b3261e; --ticket: #9a5b00; --row: #8883; }
        @media (prefers-color-scheme: dark) { :root { --page: #ff8a80; --ticket: #ffb95c; } }
        body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
        svg { width: 100%; height: auto; } svg text { font: 11px system-ui, sans-serif; fill: currentColor; }
        .row { fill: var(--row); } .page, .critical { fill: var(--page); } .ticket, .info { fill: var(--ticket); }
        .tick { stroke: currentColor; opacity: .2; }
        table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .15rem .6rem .15rem 0; }
        th { font-weight: 600; border-bottom: 1px solid #8886; } .n { text-align: right; font-variant-numeric: tabular-nums; }
        </style>
        <h1>Backtest of alert rules</h1>
        <p>\("\(report.span.since)".escapedHTML) to \("\(report.span.last + 1)".escapedHTML). A bar lasts from firing to resolved.</p>
        \(report.results.map(section).joined(separator: "\n"))
        </html>

        """
    }

    private func section(_ result: RuleBacktest.Result) -> String {
        let counts = BacktestReport.counts(result.alerts, span: report.span)
        let head = "<h2>\(result.rule.name.escapedHTML)</h2>\n<p>\(counts); severity \(result.rule.severity.rawValue).</p>"
        guard !result.groups.isEmpty else { return head + "\n<p>No attempts that this rule counts.</p>" }
        let table = result.alerts.isEmpty ? "" : "\n" + table(result.alerts)
        return "\(head)\n\(drawing(result))\(table)"
    }

    private func drawing(_ result: RuleBacktest.Result) -> String {
        let (height, rows) = rows(result)
        let label = "Alerts of \(result.rule.name) over time".escapedHTML
        return """
            <svg viewBox="0 0 \(Self.width) \(height)" role="img" aria-label="\(label)">
            \(rows)
            </svg>
            """
    }

    /// The groups of a rule below each other, with the days; and how high that is.
    func rows(_ result: RuleBacktest.Result) -> (height: Int, svg: String) {
        let rows = result.groups.enumerated().map { index, group in
            row(group, result.alerts.filter { $0.group == group }, top: index * Self.rowHeight)
        }
        let height = result.groups.count * Self.rowHeight
        return (height + 18, (rows + [axis(height)]).joined(separator: "\n"))
    }

    private func row(_ group: GroupKey, _ alerts: [BacktestAlert], top: Int) -> String {
        let base = "<rect class=\"row\" x=\"0\" y=\"\(top + 14)\" width=\"\(Self.width)\" height=\"6\"/>"
        let name = "<text x=\"0\" y=\"\(top + 11)\">\(group.description.escapedHTML)</text>"
        let bars = alerts.map { alert in
            let from = x(max(alert.firedAt, report.span.since))
            let to = x(alert.resolvedAt ?? report.span.last + 1)
            let title = BacktestReport.line(alert, span: report.span).escapedHTML
            return "<rect class=\"\(alert.severity.rawValue)\" x=\"\(Fraction.rounded(from))\" y=\"\(top + 12)\" "
                + "width=\"\(Fraction.rounded(max(2, to - from)))\" height=\"10\"><title>\(title)</title></rect>"
        }
        return ([base, name] + bars).joined(separator: "\n")
    }

    /// A tick at midnight UTC, as many days apart as leaves space for the date.
    private func axis(_ height: Int) -> String {
        let days = report.span.minutes / 1440 + 1
        let step = max(1, (days + 13) / 14)
        let first = report.span.since.day + 1
        return stride(from: first, through: report.span.last.day, by: step).map { day in
            let position = Fraction.rounded(x(Minute.firstOf(day: day)))
            let date = Minute.firstOf(day: day).description.prefix(10).suffix(5)
            return "<line class=\"tick\" x1=\"\(position)\" x2=\"\(position)\" y1=\"0\" y2=\"\(height + 4)\"/>"
                + "<text x=\"\(position)\" y=\"\(height + 16)\">\(date)</text>"
        }.joined(separator: "\n")
    }

    private func x(_ minute: Minute) -> Double {
        Double(minute - report.span.since) / Double(max(1, report.span.minutes)) * Double(Self.width)
    }

    private func table(_ alerts: [BacktestAlert]) -> String {
        let rows = alerts.map { alert in
            let cells = [
                "\(alert.group)", alert.severity.rawValue, "\(alert.fired.startsAt)", "\(alert.firedAt)",
                alert.resolvedAt?.description ?? "still firing",
            ].map { "<td>\($0.escapedHTML)</td>" }
            let numbers = ["\(alert.minutes(through: report.span.last))", alert.fired.evidence.observedText, alert.worstText]
                .map { "<td class=\"n\">\($0.escapedHTML)</td>" }
            return "<tr>\((cells + numbers).joined())</tr>"
        }
        return """
            <table><tr><th>group<th>severity<th>since<th>fired<th>resolved\
            <th class="n">minutes<th class="n">observed<th class="n">worst</tr>
            \(rows.joined(separator: "\n"))
            </table>
            """
    }
}

extension BacktestReport {
    /// One self-contained HTML file.
    package var html: String { BacktestPage(report: self).html }
}
