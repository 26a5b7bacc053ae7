import AlertRules
import Attempts
import Postgres
import PushContract

/// Which groups of a rule are evaluated: those that can fire, and of these the ones with the most attempts. All others are one group, `other`.
///
/// Only `app` has values without a bound. Apps whose alert fires are always among those that are evaluated.
struct RuleScope {
    /// Nil when no group can fire.
    var selection: RollupSelection?
    /// Apps that are counted together.
    var folded = 0

    static func read(
        _ rule: AlertRule,
        firing: some Sequence<GroupKey>,
        maxApps: Int,
        from first: Minute,
        through last: Minute,
        on session: any PostgresSession
    ) async throws -> RuleScope {
        var selection = rule.selection()
        selection.spans = rule.spans(after: first + (rule.lookback + 1), through: last).map {
            $0.lowerBound.timestamp..<($0.upperBound + 1).timestamp
        }
        guard rule.condition.source == .attempts, rule.dimensions.contains(.app) else { return RuleScope(selection: selection) }
        let firing = Set(firing.compactMap { $0[.app] })
        let largest = try await RollupStore.largest(
            .app,
            selection,
            leastBad: rule.condition.leastBad,
            limit: maxApps,
            from: first.timestamp,
            to: (last + 1).timestamp,
            on: session
        )
        let apps = firing.union(largest.values).sorted()
        if largest.total > maxApps || firing.contains(FoldedLabels.other) {
            selection.kept[.app] = apps
            return RuleScope(selection: selection, folded: max(0, largest.total - maxApps))
        }
        guard rule.condition.leastBad > 0 else { return RuleScope(selection: selection) }
        selection.allowed[.app] = apps
        return RuleScope(selection: apps.isEmpty ? nil : selection)
    }
}
