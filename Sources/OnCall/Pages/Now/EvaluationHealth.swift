import AlertRules
import Alerting
import PushContract

/// Whether the rules are being evaluated. Without evaluation the absence of alerts means nothing.
struct EvaluationHealth: Hashable {
    /// A rule looks at each closed minute about a minute later; after this long something is wrong.
    static let waitLimit = Duration.seconds(300)

    /// Rules in force.
    var rules: Int
    /// Rules that were evaluated at least once.
    var evaluated: Int
    /// The end of the last minute that every evaluated rule has seen.
    var through: Timestamp?
    /// What is wrong with the rule files.
    var faults: [String]
    /// Attempts of the last day that were reported after their minute was evaluated.
    var lateAttempts: Int64 = 0
    /// Rules that have been in force for longer than `waitLimit` and were never evaluated.
    var neverEvaluated = 0

    enum Verdict: Hashable {
        case upToDate(through: Timestamp)
        case late(through: Timestamp)
        /// There are rules, and none was evaluated yet.
        case notYet
        case noRules
    }

    /// The end of the last minute that all of `progress` has covered; nil when nothing was evaluated.
    ///
    /// A baseline rule decides every few minutes only. Until its next decision is due it is not behind, so those minutes count as seen.
    static func through(_ progress: [RuleProgress], rules: [AlertRule], now: Timestamp) -> Timestamp? {
        let cadence = Dictionary(rules.map { ($0.name, $0.decidesEvery) }, uniquingKeysWith: { first, _ in first })
        let covered = progress.compactMap { row in cadence[row.rule].map { row.asOf + ($0 - 1) } }
        return covered.min().map { min($0, Minute.lastClosed(before: now)) + 1 }?.timestamp
    }

    func verdict(now: Timestamp) -> Verdict {
        guard rules > 0 else { return .noRules }
        guard let through else { return .notYet }
        return now - through > Self.waitLimit ? .late(through: through) : .upToDate(through: through)
    }
}

extension AlertRule {
    /// Minutes from one decision to the next.
    fileprivate var decidesEvery: Int {
        condition.decidesEvery
    }
}
