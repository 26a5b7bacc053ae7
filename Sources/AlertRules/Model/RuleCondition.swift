/// What a rule watches for.
package enum RuleCondition: Sendable, Hashable {
    case ratio(RatioCondition)
    case baseline(BaselineCondition)

    /// Name and version of the definition in the reference; part of the evidence.
    package var definition: String {
        switch self {
        case .ratio: "ratio/1"
        case .baseline: "baseline/1"
        }
    }

    /// The reason codes that count as bad.
    package var reasons: [String] {
        switch self {
        case .ratio(let ratio): ratio.reasons
        case .baseline(let baseline): baseline.reasons
        }
    }

    /// The attempts that count at all.
    package var of: AttemptFilter {
        switch self {
        case .ratio(let ratio): ratio.of
        case .baseline(let baseline): baseline.of
        }
    }

    /// The share of a ratio, the multiple of a baseline.
    package var threshold: Fraction {
        switch self {
        case .ratio(let ratio): ratio.above
        case .baseline(let baseline): baseline.above
        }
    }
}

/// Which attempts are the denominator: for each named dimension, the values that count.
package struct AttemptFilter: Sendable, Hashable {
    package var allowed: [Dimension: [String]]

    package init(_ allowed: [Dimension: [String]] = [.eventType: ["send"]]) {
        self.allowed = allowed.mapValues { $0.sorted() }
    }

    /// Whether an attempt with these values counts.
    package func admits(_ key: GroupKey) -> Bool {
        allowed.allSatisfy { dimension, values in values.contains(key[dimension] ?? "") }
    }
}
