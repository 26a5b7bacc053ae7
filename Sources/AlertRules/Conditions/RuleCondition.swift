import PushContract

/// What a rule watches for: a condition of any kind.
package struct RuleCondition: Sendable {
    let base: any Condition

    init(_ base: any Condition) { self.base = base }

    /// Name and version of the definition; part of the evidence.
    package var definition: String { base.definition }
    /// Where a rule's minutes come from.
    package var source: SeriesSource { base.source }
    /// The reason codes that count as bad.
    package var reasons: [String] { base.reasons }
    /// Some attempts count as bad, so an alert has an impact and contributors.
    package var hasBadAttempts: Bool { source == .attempts && !reasons.isEmpty }
    /// The statuses that count as bad; empty for all with one of the reasons.
    package var statuses: [String] { base.statuses }
    /// The provider's codes that count as bad; empty for all.
    package var codes: [String] { base.codes }
    /// The attempts that count at all.
    package var of: AttemptFilter { base.of }
    /// The share of a ratio, the multiple of a baseline, the number of a backlog.
    package var threshold: Fraction { base.threshold }
    /// What the evidence's numbers mean.
    package var level: Evidence.Level { base.level }
    /// Minutes from one decision to the next.
    package var decidesEvery: Int { base.decidesEvery }
    /// A group with fewer bad attempts than this in all minutes that it decides by does not fire; 0: it may fire without any.
    package var leastBad: Int64 { base.leastBad }

    /// One line for people; `words` writes a duration.
    package func summary(_ words: (RuleDuration) -> String) -> String { base.summary(words) }
}

extension RuleCondition: Hashable {
    package static func == (a: Self, b: Self) -> Bool { AnyHashable(a.base) == AnyHashable(b.base) }
    package func hash(into hasher: inout Hasher) { hasher.combine(AnyHashable(base)) }
}

/// Where a rule's minutes come from.
package enum SeriesSource: Sendable, Hashable {
    /// The rollups: attempts with an outcome, and how many of them were bad.
    case attempts
    /// Samples of the send queue: how many wait.
    case backlog
    /// The same samples: the age of the oldest due delivery.
    case queueAge
    /// The first minute of each day in which a code was seen.
    case codes
    /// Hourly cohorts of devices whose token was no longer registered.
    case reregistrations
    /// Samples of the sources of live subjects: how many followers silent ones affect.
    case feeds
}

/// Which attempts are the denominator: for each named dimension, the values that count.
package struct AttemptFilter: Sendable, Hashable {
    package var allowed: [Dimension: [String]]

    package init(_ allowed: [Dimension: [String]] = [.eventType: ["send"]]) {
        self.allowed = allowed.mapValues { $0.sorted() }
    }

    /// Whether an attempt with these values counts.
    package func admits(_ key: GroupKey) -> Bool {
        allowed.allSatisfy { dimension, values in
            let value = ExactText(key[dimension] ?? "")
            return values.contains { ExactText($0) == value }
        }
    }
}
