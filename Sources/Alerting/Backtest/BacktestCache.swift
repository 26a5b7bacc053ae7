package import AlertRules
package import PushContract
import Synchronization

/// The newest backtest of each rule, kept in the process for the pages: they show it without waiting for it.
///
/// Safe to use from any task.
package final class BacktestCache: Sendable {
    package struct Entry: Sendable, Hashable {
        package var span: BacktestSpan
        /// When the stored history begins; nil when nothing was stored.
        package var historySince: Minute?
        package var alerts: [BacktestAlert]
        package var computedAt: Timestamp
        /// How long it took to make.
        package var duration: Duration
        /// The newest beginning or end of an alert of this rule when it was made; nil when it never had one.
        package var changedAt: Timestamp?

        package init(
            span: BacktestSpan,
            historySince: Minute?,
            alerts: [BacktestAlert],
            computedAt: Timestamp,
            duration: Duration = .zero,
            changedAt: Timestamp? = nil
        ) {
            self.span = span
            self.historySince = historySince
            self.alerts = alerts
            self.computedAt = computedAt
            self.duration = duration
            self.changedAt = changedAt
        }
    }

    /// By the rule's version, which changes with its decisions.
    private let entries = Mutex<[String: Entry]>([:])

    package init() {}

    /// Nil for a rule, or a version of it, that was not backtested yet.
    package func entry(of rule: AlertRule) -> Entry? { entries.withLock { $0[rule.version] } }

    package func put(_ entry: Entry, of rule: AlertRule) { entries.withLock { $0[rule.version] = entry } }

    /// Removes the entries of rules that are in no file any more.
    func keep(only rules: [AlertRule]) {
        let versions = Set(rules.map(\.version))
        entries.withLock { $0 = $0.filter { versions.contains($0.key) } }
    }
}
