import AlertRules

/// The result of a backtest, for people and machines.
package struct BacktestReport: Sendable, Hashable {
    package var span: BacktestSpan
    package var results: [RuleBacktest.Result]

    package init(span: BacktestSpan, results: [RuleBacktest.Result]) {
        self.span = span
        self.results = results
    }

    /// As plain text: for each rule a timeline of every group with alerts, and its alerts below it.
    package func text(width: Int = 100) -> String {
        let head = "\(span.since) … \(span.last + 1): \(length)\n"
        return ([head] + results.map { block($0, width: width) } + [summary]).joined(separator: "\n")
    }

    private var length: String { RuleDuration(minutes: span.minutes).description }

    private var summary: String {
        let alerts = results.flatMap(\.alerts)
        let pages = alerts.count { $0.severity.pages && !$0.isSuppressed }
        return "\(results.count) rules, \(alerts.count) alerts, \(pages) of them would have paged"
    }

    private func block(_ result: RuleBacktest.Result, width: Int) -> String {
        var lines = ["\(result.rule.name)  \(Self.counts(result.alerts, span: span))  [\(result.rule.severity.rawValue)]"]
        let groups = Set(result.alerts.map(\.group)).sorted()
        let label = groups.map(\.description.count).max() ?? 0
        for group in groups {
            let line = BacktestTimeline.line(result.alerts.filter { $0.group == group }, span: span, cells: max(20, width - label - 6))
            lines.append("  \(padded(group.description, label)) \(line)")
        }
        lines += result.alerts.map { "    " + Self.line($0, span: span) }
        if result.groups.isEmpty { lines.append("  no attempts that this rule counts") }
        return lines.joined(separator: "\n") + "\n"
    }

    private func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    /// `3 alerts, 96 min`
    static func counts(_ alerts: [BacktestAlert], span: BacktestSpan) -> String {
        let minutes = alerts.reduce(0) { $0 + $1.minutes(through: span.last) }
        return "\(alerts.count) alert\(alerts.count == 1 ? "" : "s"), \(minutes) min"
    }

    static func suppressionText(_ suppression: Suppression.Outcome) -> String {
        switch suppression {
        case .notified: ""
        case .delayed(let cause, let minute): ", suppressed by \(cause) until \(minute)"
        case .suppressed(let cause): ", suppressed by \(cause)"
        }
    }

    /// One alert in one line.
    static func line(_ alert: BacktestAlert, span: BacktestSpan) -> String {
        let end = alert.resolvedAt.map { "resolved \($0)" } ?? "still firing"
        let severity = alert.severity.rawValue + (alert.fired.evidence.level == .learning ? ", learning" : "")
        return "\(alert.group)  since \(alert.fired.startsAt), fired \(alert.firedAt), \(end), "
            + "\(alert.minutes(through: span.last)) min, worst \(alert.worstText) (\(severity))" + suppressionText(alert.suppression)
    }
}

extension BacktestAlert {
    /// The worst window, as recorded at the end, or at firing while it still fires.
    var worstText: String { (resolved ?? fired).evidence.worstText }
}
