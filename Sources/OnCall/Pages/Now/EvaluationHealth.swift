import PushContract

/// Whether the rules are being evaluated. Without evaluation the absence of alerts means nothing.
struct EvaluationHealth: Hashable {
    /// A rule evaluates each closed minute about a minute later; after this long something is wrong.
    static let waitLimit = Duration.seconds(300)

    /// Rules in force.
    var rules: Int
    /// Rules that were evaluated at least once.
    var evaluated: Int
    /// The end of the last minute for which every rule that was evaluated has been.
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

    func verdict(now: Timestamp) -> Verdict {
        guard rules > 0 else { return .noRules }
        guard let through else { return .notYet }
        return now - through > Self.waitLimit ? .late(through: through) : .upToDate(through: through)
    }
}
