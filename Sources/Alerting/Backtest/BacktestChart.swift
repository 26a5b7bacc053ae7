import AlertRules
import ServiceKit

/// A backtest as one SVG file, for a comment or a wiki: the rows of all rules below each other.
struct BacktestChart {
    let report: BacktestReport

    private static let margin = 12
    private static let titleHeight = 26

    var svg: String {
        let page = BacktestPage(report: report)
        var top = Self.margin + Self.titleHeight
        let title = "\(report.span.since) to \(report.span.last + 1)"
        var parts = [text(title, top: Self.margin + 14, isHead: false)]
        for result in report.results {
            let counts = BacktestReport.counts(result.alerts, span: report.span)
            parts.append(text("\(result.rule.name): \(counts), severity \(result.rule.severity.rawValue)", top: top + 16, isHead: true))
            top += Self.titleHeight
            guard !result.groups.isEmpty else { continue }
            let (height, rows) = page.rows(result)
            parts.append("<g transform=\"translate(\(Self.margin) \(top))\">\n\(rows)\n</g>")
            top += height + Self.margin
        }
        let width = BacktestPage.width + 2 * Self.margin
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(top)" width="\(width)" height="\(top)">
            <style>
            text { font: 11px system-ui, sans-serif; fill: #222; } .head { font-size: 14px; font-weight: 600; }
            .row { fill: #ddd; } .page, .critical { fill: #b3261e; } .ticket, .info { fill: #9a5b00; } .tick { stroke: #222; opacity: .2; }
            </style>
            <rect width="100%" height="100%" fill="#fff"/>
            \(parts.joined(separator: "\n"))
            </svg>

            """
    }

    private func text(_ text: String, top: Int, isHead: Bool) -> String {
        "<text x=\"\(Self.margin)\" y=\"\(top)\"\(isHead ? " class=\"head\"" : "")>\(text.escapedHTML)</text>"
    }
}

extension BacktestReport {
    /// One self-contained SVG file.
    package var svg: String { BacktestChart(report: self).svg }
}
