package import AlertRules

/// How a change of rules would have changed the alerts of a period.
package struct RuleSetDifference: Sendable, Hashable {
    package var span: BacktestSpan
    /// By name, those without any difference included.
    package var rules: [RuleDifference]

    package var isEmpty: Bool { rules.allSatisfy(\.isEmpty) }

    /// Backtests the rules whose decisions or receivers differ, and those that a changed rule suppresses. The others have the same alerts
    /// and are not read.
    ///
    /// - Parameters:
    ///   - oldReceivers: those of the old rules' directory; nil when it has none; then receivers are not compared.
    package static func between(
        _ old: [AlertRule],
        _ new: [AlertRule],
        oldReceivers: ReceiverSet? = nil,
        newReceivers: ReceiverSet? = nil,
        _ backtest: RuleBacktest,
        onProgress: (RuleBacktest.Progress) -> Void = { _ in }
    ) async throws -> RuleSetDifference {
        let oldByName = Dictionary(old.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let newByName = Dictionary(new.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let names = Set(oldByName.keys).union(newByName.keys).sorted()
        let decided = Set(names.filter { oldByName[$0]?.version != newByName[$0]?.version })
        let receivers = oldReceivers.flatMap { old in newReceivers.map { (old: old, new: $0) } }
        var changed: [(name: String, settings: [RuleSettingChange])] = []
        for name in names {
            let (before, after) = (oldByName[name], newByName[name])
            let settings = before.flatMap { before in after.map { RuleSettingChange.between(before, $0, receivers) } } ?? []
            let causes = (before?.suppressedBy ?? []) + (after?.suppressedBy ?? [])
            if decided.contains(name) || !settings.isEmpty || causes.contains(where: decided.contains) { changed.append((name, settings)) }
        }
        let before = try await alerts(changed.compactMap { oldByName[$0.name] }, among: old, backtest, onProgress)
        let after = try await alerts(changed.compactMap { newByName[$0.name] }, among: new, backtest, onProgress)
        let rules = changed.map { name, settings in
            var rule = RuleDifference(name: name, old: before[name], new: after[name], through: backtest.span.last)
            rule.settings = settings
            return rule
        }
        return RuleSetDifference(span: backtest.span, rules: rules)
    }

    private static func alerts(
        _ rules: [AlertRule],
        among all: [AlertRule],
        _ backtest: RuleBacktest,
        _ onProgress: (RuleBacktest.Progress) -> Void
    ) async throws -> [String: [BacktestAlert]] {
        let results = try await backtest.run(rules, among: all, onProgress: onProgress)
        return Dictionary(results.map { ($0.rule.name, $0.alerts) }, uniquingKeysWith: { first, _ in first })
    }

    /// Markdown that reads well as plain text: the comment on a change of rules.
    package var text: String {
        let length = RuleDuration(minutes: span.minutes)
        guard !rules.isEmpty else { return "The rules decide the same and notify the same receivers; there is nothing to compare." }
        let head = "**Alert rules over \(length)** (\(span.since) … \(span.last + 1))"
        return ([head] + rules.map(block)).joined(separator: "\n\n")
    }

    private func block(_ rule: RuleDifference) -> String {
        let before = rule.old.map { "old \(BacktestReport.counts($0, span: span))" } ?? "new rule"
        let after = rule.new.map { "new \(BacktestReport.counts($0, span: span))" } ?? "removed"
        let head = "`\(rule.name)`: \(before); \(after)" + (rule.isEmpty ? "; the same alerts" : "")
        let settings = rule.settings.map { "- \($0)" }
        let lost = rule.lost.map { "- lost: " + BacktestReport.line($0, span: span) }
        let gained = rule.gained.map { "- gained: " + BacktestReport.line($0, span: span) }
        let moved = rule.moved.map { "- changed: " + Self.line($0, span: span) }
        return ([head] + settings + lost + gained + moved).joined(separator: "\n")
    }

    private static func line(_ moved: RuleDifference.Moved, span: BacktestSpan) -> String {
        func text(_ alert: BacktestAlert) -> String {
            let end = alert.resolvedAt.map { "resolved \($0)" } ?? "still firing"
            return "fired \(alert.firedAt), \(end), \(alert.minutes(through: span.last)) min, \(alert.severity.rawValue)"
                + BacktestReport.suppressionText(alert.suppression)
        }
        return "\(moved.old.group)  old: \(text(moved.old)); new: \(text(moved.new))"
    }
}
