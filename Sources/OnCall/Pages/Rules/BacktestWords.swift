import AlertRules
import Alerting
import PushContract

/// A backtest in a sentence.
enum BacktestWords {
    /// `Backtest of 28 days: 3 alerts, firing for 1 h 36 min in all; made 12 min ago.`
    static func text(_ entry: BacktestCache.Entry?, now: Timestamp) -> String {
        guard let entry else { return "Not computed yet: its backtest comes within minutes." }
        guard let since = entry.historySince, since <= entry.span.last else { return "No attempts are stored to backtest it on." }
        let minutes = entry.alerts.reduce(0) { $0 + $1.minutes(through: entry.span.last) }
        let count = entry.alerts.isEmpty ? "no alert" : "\(entry.alerts.count) \(entry.alerts.count == 1 ? "alert" : "alerts")"
        let firing = minutes > 0 ? ", firing for \(DurationText.span(.seconds(minutes * 60))) in all" : ""
        return "Backtest of \(days(entry, since: since)): \(count)\(firing); made \(DurationText.ago(entry.computedAt, now: now))."
    }

    private static func days(_ entry: BacktestCache.Entry, since: Minute) -> String {
        guard since > entry.span.since else { return "\(BacktestRefresher.days) days" }
        return "the \(DurationText.span(.seconds((entry.span.last - since + 1) * 60))) that are stored"
    }
}
