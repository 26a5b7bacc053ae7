package import AlertRules

/// What a change of rules would have changed over a stretch of history.
package struct RuleSetDifference: Sendable, Hashable {
    package var span: BacktestSpan
    /// By name, those without any difference included.
    package var rules: [RuleDifference]

    package var isEmpty: Bool { rules.allSatisfy(\.isEmpty) }

    /// Backtests what differs. Rules with the same decisions and severity in both sets have the same episodes: they are not read.
    package static func between(
        _ old: [AlertRule],
        _ new: [AlertRule],
        _ backtest: RuleBacktest,
        onProgress: (RuleBacktest.Progress) -> Void = { _ in }
    ) async throws -> RuleSetDifference {
        let oldByName = Dictionary(old.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let newByName = Dictionary(new.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var rules: [RuleDifference] = []
        for name in Set(oldByName.keys).union(newByName.keys).sorted() {
            let (before, after) = (oldByName[name], newByName[name])
            if before?.version == after?.version, before?.severity == after?.severity { continue }
            var episodes: [[BacktestEpisode]?] = []
            for rule in [before, after] {
                guard let rule else {
                    episodes.append(nil)
                    continue
                }
                episodes.append(try await backtest.run(rule, onProgress: onProgress).episodes)
            }
            rules.append(RuleDifference(name: name, old: episodes[0], new: episodes[1], through: backtest.span.last))
        }
        return RuleSetDifference(span: backtest.span, rules: rules)
    }

    /// Markdown that reads well as plain text: the comment on a change of rules.
    package var text: String {
        let length = RuleDuration(minutes: span.minutes)
        guard !rules.isEmpty else { return "The rules decide the same; there is nothing to compare." }
        let head = "**Alert rules over \(length)** (\(span.since) … \(span.last + 1))"
        return ([head] + rules.map(block)).joined(separator: "\n\n")
    }

    private func block(_ rule: RuleDifference) -> String {
        let before = rule.old.map { "old \(BacktestReport.counts($0, span: span))" } ?? "new rule"
        let after = rule.new.map { "new \(BacktestReport.counts($0, span: span))" } ?? "removed"
        let head = "`\(rule.name)`: \(before); \(after)" + (rule.isEmpty ? "; the same episodes" : "")
        let lost = rule.lost.map { "- lost: " + BacktestReport.line($0, span: span) }
        let gained = rule.gained.map { "- gained: " + BacktestReport.line($0, span: span) }
        let moved = rule.moved.map { "- changed: " + Self.line($0, span: span) }
        return ([head] + lost + gained + moved).joined(separator: "\n")
    }

    private static func line(_ moved: RuleDifference.Moved, span: BacktestSpan) -> String {
        let old = (moved.old, moved.old.resolvedAt?.description ?? "still firing")
        let new = (moved.new, moved.new.resolvedAt?.description ?? "still firing")
        func text(_ side: (BacktestEpisode, String)) -> String {
            "fired \(side.0.firedAt), \(side.1 == "still firing" ? side.1 : "resolved " + side.1), "
                + "\(side.0.minutes(through: span.last)) min, \(side.0.severity.rawValue)"
        }
        return "\(moved.old.group)  old: \(text(old)); new: \(text(new))"
    }
}
