/// A level of failures that a person has accepted as normal for one group of a baseline rule.
///
/// From `from` on, the days and hours before it count as if they had that level; the days after it count as they are. So the level is
/// expected at once, and after the training days have passed the baseline is that of real days again.
package struct BaselineAcceptance: Sendable, Hashable, Codable {
    /// The first minute that is decided by it.
    package var from: Minute
    /// The first minute that is not any more; nil while it is in force.
    package var to: Minute?
    /// The share of each stratum's attempts that is expected to fail. A stratum without attempts at that time has none and keeps its own
    /// past.
    package var shares: [FrozenShare]

    package init(from: Minute, to: Minute? = nil, shares: [FrozenShare]) {
        self.from = from
        self.to = to
        self.shares = shares
    }

    func isInForce(at minute: Minute) -> Bool { from <= minute && to.map { minute < $0 } ?? true }
}

/// An acceptance, with its shares by stratum.
struct AcceptedBaseline {
    /// Its position among the acceptances of the group, a part of cache keys.
    let index: Int
    let from: Minute
    private let shares: [GroupKey: Double]

    init(_ acceptance: BaselineAcceptance, index: Int) {
        self.index = index
        from = acceptance.from
        shares = acceptance.shares.byStratum
    }

    subscript(stratum: GroupKey) -> Double? { shares[stratum] }
}

/// Attempts of a training day or hour, and how many of them count as failed: those that did, or the accepted part.
struct TrainingCounts {
    var attempts: Int64 = 0
    var bad = 0.0

    init() {}

    init(_ counts: AttemptCounts, accepted: Double?) {
        attempts = counts.attempts
        bad = accepted.map { Double(counts.attempts) * $0 } ?? Double(counts.bad)
    }

    /// Nil without attempts.
    var share: Double? { attempts > 0 ? bad / Double(attempts) : nil }

    static func + (a: TrainingCounts, b: TrainingCounts) -> TrainingCounts {
        var sum = a
        sum.attempts += b.attempts
        sum.bad += b.bad
        return sum
    }
}
