/// What a rule watches for, and how that is decided. Each kind has a folder of its own; `ConditionKind.all` lists them.
protocol Condition: Sendable, Hashable {
    /// Name and version of the definition; part of the evidence.
    var definition: String { get }
    /// Where its minutes come from.
    var source: SeriesSource { get }
    /// The reason codes that count as bad.
    var reasons: [String] { get }
    /// The statuses that count as bad; empty for all with one of the reasons.
    var statuses: [String] { get }
    /// The provider's codes that count as bad; empty for all.
    var codes: [String] { get }
    /// The attempts that count at all.
    var of: AttemptFilter { get }
    /// The share of a ratio, the multiple of a baseline, the number of a backlog.
    var threshold: Fraction { get }
    /// What the evidence's numbers mean.
    var level: Evidence.Level { get }
    /// Minutes from one decision to the next.
    var decidesEvery: Int { get }
    /// How many minutes before a minute are needed to decide about it; whole days of a baseline come on top.
    var lookback: Int { get }
    /// The minutes within `lookback` of `first` that are needed to decide about those after `first` up to `last`; empty: all of them.
    func spans(_ first: Minute, _ last: Minute) -> [ClosedRange<Minute>]
    /// Dimensions that rows must have in addition to those of the groups.
    var strata: [Dimension] { get }
    /// A group with fewer bad attempts than this in all minutes that it decides by does not fire; 0: it may fire without any.
    var leastBad: Int64 { get }
    /// What the rule version is derived from, in addition to what all conditions have.
    var versionSettings: [String] { get }
    /// The share around which synthetic traffic is made; nil when the condition does not depend on a share of attempts.
    var scenarioShare: Double? { get }
    /// Synthetic minutes, for a condition whose minutes are not attempts.
    var seriesScenario: SeriesScenario.Input? { get }

    /// One line for people; `words` writes a duration.
    func summary(_ words: (RuleDuration) -> String) -> String
    /// What the number of evidence at this level was compared with.
    func threshold(at level: Evidence.Level) -> Fraction
    /// Ready to decide about every minute from `first` to `last`.
    func decision(_ history: GroupHistory, from first: Minute, through last: Minute) -> any Decision
}

extension Condition {
    var statuses: [String] { [] }
    var codes: [String] { [] }
    var decidesEvery: Int { 1 }
    func spans(_ first: Minute, _ last: Minute) -> [ClosedRange<Minute>] { [] }
    var strata: [Dimension] { [] }
    var leastBad: Int64 { 0 }
    var scenarioShare: Double? { nil }
    var seriesScenario: SeriesScenario.Input? { nil }
    func threshold(at level: Evidence.Level) -> Fraction { threshold }
}
