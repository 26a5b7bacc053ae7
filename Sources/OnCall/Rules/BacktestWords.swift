import AlertRules
import Alerting
import PushContract

/// A backtest in a sentence.
enum BacktestWords {
    /// `Backtest of 28 days: 3 alerts, firing for 1 h 36 min in all; made 12 min ago.`
    static func text(_ entry: BacktestShelf.Entry?, now: Timestamp) -> String {
        guard let entry else { return "Not computed yet: its backtest comes within minutes." }
        guard let since = entry.historySince, since <= entry.span.last else { return "No attempts are stored to backtest it on." }
        let minutes = entry.episodes.reduce(0) { $0 + $1.minutes(through: entry.span.last) }
        let count = entry.episodes.isEmpty ? "no alert" : "\(entry.episodes.count) \(entry.episodes.count == 1 ? "alert" : "alerts")"
        let firing = minutes > 0 ? ", firing for \(SpanText.span(.seconds(minutes * 60))) in all" : ""
        return "Backtest of \(days(entry, since: since)): \(count)\(firing); made \(SpanText.ago(entry.madeAt, now: now))."
    }

    private static func days(_ entry: BacktestShelf.Entry, since: Minute) -> String {
        guard since > entry.span.since else { return "\(BacktestKeeper.days) days" }
        return "the \(SpanText.span(.seconds((entry.span.last - since + 1) * 60))) that are stored"
    }
}
