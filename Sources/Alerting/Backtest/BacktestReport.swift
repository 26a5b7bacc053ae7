import AlertRules

/// What a backtest found, for people and machines.
package struct BacktestReport: Sendable, Hashable {
    package var span: BacktestSpan
    package var results: [RuleBacktest.Result]

    package init(span: BacktestSpan, results: [RuleBacktest.Result]) {
        self.span = span
        self.results = results
    }

    /// As plain text: for each rule a timeline of every group with alerts, and its episodes below it.
    package func text(width: Int = 100) -> String {
        let head = "\(span.since) … \(span.last + 1): \(length)\n"
        return ([head] + results.map { block($0, width: width) } + [summary]).joined(separator: "\n")
    }

    private var length: String { RuleDuration(minutes: span.minutes).description }

    private var summary: String {
        let episodes = results.flatMap(\.episodes)
        let pages = episodes.count { $0.severity.pages && !$0.isHeldBack }
        return "\(results.count) rules, \(episodes.count) episodes, \(pages) of them would have paged"
    }

    private func block(_ result: RuleBacktest.Result, width: Int) -> String {
        var lines = ["\(result.rule.name)  \(Self.counts(result.episodes, span: span))  [\(result.rule.severity.rawValue)]"]
        let groups = Set(result.episodes.map(\.group)).sorted()
        let label = groups.map(\.description.count).max() ?? 0
        for group in groups {
            let line = BacktestTimeline.line(result.episodes.filter { $0.group == group }, span: span, cells: max(20, width - label - 6))
            lines.append("  \(padded(group.description, label)) \(line)")
        }
        lines += result.episodes.map { "    " + Self.line($0, span: span) }
        if result.groups.isEmpty { lines.append("  no attempts that this rule counts") }
        return lines.joined(separator: "\n") + "\n"
    }

    private func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    /// `3 episodes, 96 min`
    static func counts(_ episodes: [BacktestEpisode], span: BacktestSpan) -> String {
        let minutes = episodes.reduce(0) { $0 + $1.minutes(through: span.last) }
        return "\(episodes.count) episode\(episodes.count == 1 ? "" : "s"), \(minutes) min"
    }

    static func held(_ telling: Suppression.Outcome) -> String {
        switch telling {
        case .told: ""
        case .later(let cause, let minute): ", held back by \(cause) until \(minute)"
        case .never(let cause): ", held back by \(cause)"
        }
    }

    /// One episode in one line.
    static func line(_ episode: BacktestEpisode, span: BacktestSpan) -> String {
        let end = episode.resolvedAt.map { "resolved \($0)" } ?? "still firing"
        let severity = episode.severity.rawValue + (episode.fired.evidence.level == .learning ? ", learning" : "")
        return "\(episode.group)  since \(episode.fired.startsAt), fired \(episode.firedAt), \(end), "
            + "\(episode.minutes(through: span.last)) min, worst \(episode.worstText) (\(severity))" + held(episode.telling)
    }
}

extension BacktestEpisode {
    /// The worst window known at the end, or at firing while it goes on.
    var worstText: String { (resolved ?? fired).evidence.worstText }
}
