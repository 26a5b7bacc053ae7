/// Alerts that are only the consequence of another one, which is notified: `suppressed_by` of a rule.
///
/// Pure, so that live evaluation and a backtest suppress the same alerts. Of two alerts with the same values in the dimensions both have,
/// the cause suppresses the consequence, if that had begun before the cause fired,
/// - as long as the cause fires, and
/// - after its end until the condition of the consequence is met again: two alerts that end together are not notified at their end.
///
/// A consequence that begins later is a new incident and is notified. An alert that does not page never suppresses a page.
///
/// Live, the cause must also have been notified: see `SuppressionCandidates`. Receivers and silences are no part of a backtest.
package enum Suppression {
    /// The part of an alert by which suppression decides.
    package struct Span: Sendable, Hashable {
        package var rule: String
        package var group: GroupKey
        /// The first bad minute.
        package var startsAt: Minute
        /// The first minute after the one that set it.
        package var firedAt: Minute
        /// The first minute after the one that resolved it; nil while it fires.
        package var resolvedAt: Minute?
        package var severity: Severity

        package init(
            rule: String,
            group: GroupKey,
            startsAt: Minute,
            firedAt: Minute,
            resolvedAt: Minute? = nil,
            severity: Severity = .page
        ) {
            self.rule = rule
            self.group = group
            self.startsAt = startsAt
            self.firedAt = firedAt
            self.resolvedAt = resolvedAt
            self.severity = severity
        }
    }

    /// Whether and when the alert is notified.
    package enum Outcome: Sendable, Hashable {
        case notified
        /// Notified because the cause ended first, at the first minute after the one that showed it.
        case delayed(cause: String, at: Minute)
        case suppressed(cause: String)

        /// The rule that suppressed it.
        package var cause: String? {
            switch self {
            case .notified: nil
            case .delayed(let cause, _), .suppressed(let cause): cause
            }
        }
    }

    /// Whether `cause` suppresses `consequence` when `minute` closes.
    ///
    /// - Parameter lastSet: the newest minute at which the condition of the consequence was met.
    package static func suppresses(_ cause: Span, _ consequence: Span, lastSet: Minute, at minute: Minute) -> Bool {
        guard agree(cause.group, consequence.group), cause.firedAt <= minute + 1, consequence.startsAt <= cause.firedAt,
            cause.severity.pages || !consequence.severity.pages
        else { return false }
        guard let resolvedAt = cause.resolvedAt, resolvedAt <= minute + 1 else { return true }
        return lastSet < resolvedAt - 1
    }

    /// The outcome of an alert that ended or still fires.
    package static func outcome(of consequence: Span, lastSet: Minute, causes: [Span]) -> Outcome {
        let set = consequence.firedAt - 1
        let ends = causes.compactMap(\.resolvedAt).map { $0 - 1 }.filter { $0 > set && $0 <= lastSet }
        var suppressor: String?
        for minute in [set] + ends.sorted() {
            guard let cause = causes.first(where: { suppresses($0, consequence, lastSet: minute, at: minute) }) else {
                return suppressor.map { .delayed(cause: $0, at: minute + 1) } ?? .notified
            }
            suppressor = suppressor ?? cause.rule
        }
        return suppressor.map { .suppressed(cause: $0) } ?? .notified
    }

    /// Causes before what they suppress, otherwise in the given order: so the cause already fires when its consequence is evaluated.
    package static func causesFirst(_ rules: [AlertRule]) -> [AlertRule] {
        let byName = Dictionary(rules.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var added: Set<String> = []
        var result: [AlertRule] = []
        func add(_ rule: AlertRule) {
            guard added.insert(rule.name).inserted else { return }
            for cause in rule.suppressedBy { byName[cause].map(add) }
            result.append(rule)
        }
        rules.forEach(add)
        return result
    }

    /// The same; those that failed the last time come after all others, with what they suppress: one that takes as long as a statement may
    /// delays no other then.
    package static func causesFirst(_ rules: [AlertRule], last failed: Set<String>) -> [AlertRule] {
        let ordered = causesFirst(rules)
        let last = ordered.reduce(into: failed) { last, rule in
            if !last.isDisjoint(with: rule.suppressedBy) { last.insert(rule.name) }
        }
        return ordered.filter { !last.contains($0.name) } + ordered.filter { last.contains($0.name) }
    }

    /// The same values wherever both have one: `provider=fcm` and `app=a,provider=fcm` are about the same provider.
    private static func agree(_ a: GroupKey, _ b: GroupKey) -> Bool {
        a.values.allSatisfy { dimension, value in b[dimension] == nil || b.has(value, for: dimension) }
    }
}
