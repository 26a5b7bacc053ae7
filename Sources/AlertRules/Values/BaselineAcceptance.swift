/// A level of failures that somebody has called normal for one group of a baseline rule.
///
/// From `from` on the days and hours before it count as if that level had been there all along; the days after it count as they were. So
/// what was accepted is expected at once, and within a reference the baseline is learned anew from real days.
package struct BaselineAcceptance: Sendable, Hashable, Codable {
    /// The first minute that is decided by it.
    package var from: Minute
    /// The first minute that is not any more; nil while it is in force.
    package var to: Minute?
    /// What part of each stratum's attempts is expected to fail. A stratum that had no attempts at that time is not in it and keeps its own past.
    package var shares: [FrozenShare]

    package init(from: Minute, to: Minute? = nil, shares: [FrozenShare]) {
        self.from = from
        self.to = to
        self.shares = shares
    }

    func isInForce(at minute: Minute) -> Bool { from <= minute && to.map { minute < $0 } ?? true }
}

/// An acceptance as the past is looked at through it.
struct AcceptedBaseline {
    /// Which of the group's acceptances it is: what is computed once is kept under it.
    let index: Int
    let from: Minute
    private let shares: [GroupKey: Double]

    init(_ acceptance: BaselineAcceptance, index: Int) {
        self.index = index
        from = acceptance.from
        shares = Dictionary(acceptance.shares.map { ($0.stratum, $0.share) }, uniquingKeysWith: { first, _ in first })
    }

    subscript(stratum: GroupKey) -> Double? { shares[stratum] }
}

/// Attempts of a day or an hour that teaches a baseline, and how many of them count as failed: those that did, or the accepted part.
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
