import AlertRules
import Attempts
import Postgres
import PushContract

/// Which groups of a rule are evaluated: those that can fire, and of these the ones with the most attempts. All others are one group,
/// `other`.
///
/// Only `app` and `appVersion` have values without a bound. Those whose alert fires, or may be opened again, are always
/// among those that are evaluated.
struct RuleScope {
    /// Nil when no group can fire.
    var selection: RollupSelection?
    /// Values that are counted together.
    var folded = 0

    static func read(
        _ rule: AlertRule,
        remembered: some Sequence<GroupKey>,
        limit: Int,
        from first: Minute,
        through last: Minute,
        on session: any PostgresSession
    ) async throws -> RuleScope {
        var selection = rule.selection()
        selection.spans = rule.spans(after: first + (rule.lookback + 1), through: last).map {
            $0.lowerBound.timestamp..<($0.upperBound + 1).timestamp
        }
        guard rule.condition.source == .attempts else { return RuleScope(selection: selection) }
        var scope = RuleScope(selection: selection)
        for (dimension, column) in rule.openDimensions {
            let remembered = Set(remembered.compactMap { $0[dimension] }.map { ExactText($0) })
            let largest = try await RollupStore.largest(
                column,
                selection,
                leastBad: rule.condition.leastBad,
                limit: limit,
                from: first.timestamp,
                to: (last + 1).timestamp,
                on: session
            )
            let values = remembered.union(largest.values.map { ExactText($0) }).sorted().map(\.text)
            if largest.total > limit || remembered.contains(ExactText(FoldedLabels.other)) {
                scope.selection?.kept[column] = values
                scope.folded += max(0, largest.total - limit)
            } else if rule.condition.leastBad > 0 {
                guard !values.isEmpty else { return RuleScope(selection: nil) }
                scope.selection?.allowed[column] = values
            }
        }
        return scope
    }
}
