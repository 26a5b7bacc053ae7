import PushContract

/// Whether the rules are being evaluated: silence means nothing if nobody looks.
struct EvaluationHealth: Hashable {
    /// A rule looks at each closed minute about a minute later; after this long something is wrong.
    static let patience = Duration.seconds(300)

    /// Rules in force.
    var rules: Int
    /// Rules that were evaluated at least once.
    var evaluated: Int
    /// The end of the last minute that every evaluated rule has seen.
    var through: Timestamp?
    /// What is wrong with the rule files.
    var faults: [String]

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
        return now - through > Self.patience ? .late(through: through) : .upToDate(through: through)
    }
}
