import AlertRules
import Alerting
import PushContract

/// Everything the page of rules shows.
struct RulesData {
    struct Entry {
        var rule: AlertRule
        var progress: RuleProgress?
        var firing: Int
        /// In the last 28 days.
        var fired: Int
        var real: Int
        var noise: Int
        /// Those alerts, newest first.
        var past: [Past]
        /// What the rule as it is now would have raised; nil until it was computed.
        var backtest: BacktestCache.Entry?
        /// Nil for rules without a fixed share as threshold, and where there is no traffic.
        var ruleStatus: WorstGroupStatus?
    }

    struct Past: Hashable {
        var id: String
        var rule: String
        var group: String
        var firedAt: Timestamp
        var resolvedAt: Timestamp?
        var verdict: String?
    }

    var entries: [Entry]
    /// The alerts of 28 days, newest first.
    var past: [Past]
    /// Acceptances in force, newest first.
    var acceptances: [AcceptanceRecord] = []
    /// What is wrong with the files.
    var faults: [String]
}
