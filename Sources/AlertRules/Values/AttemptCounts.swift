/// Attempts that reached an outcome, and how many of them ended with one of the rule's reasons.
package struct AttemptCounts: Sendable, Hashable, Codable {
    package var attempts: Int64
    package var bad: Int64

    package init(attempts: Int64 = 0, bad: Int64 = 0) {
        self.attempts = attempts
        self.bad = bad
    }

    /// Strictly above the share; never true without attempts. Whole numbers only, so exactly 5 % is not above 5 %.
    package func isAbove(_ share: Fraction) -> Bool { bad * share.denominator > share.numerator * attempts }

    /// Nil without attempts.
    package var share: Double? { attempts > 0 ? Double(bad) / Double(attempts) : nil }

    /// A larger share of bad attempts than the other; nothing is worse than nothing.
    func isWorse(than other: AttemptCounts) -> Bool { bad * other.attempts > other.bad * attempts }

    package static func + (a: AttemptCounts, b: AttemptCounts) -> AttemptCounts {
        AttemptCounts(attempts: a.attempts + b.attempts, bad: a.bad + b.bad)
    }
}

/// The counts of one minute.
package struct MinuteCounts: Sendable, Hashable {
    package var minute: Minute
    package var counts: AttemptCounts

    package init(minute: Minute, attempts: Int64, bad: Int64) {
        self.minute = minute
        counts = AttemptCounts(attempts: attempts, bad: bad)
    }
}

/// The counts of a run of minutes: what an alert shows as its evidence.
package struct WindowCounts: Sendable, Hashable, Codable {
    package var first: Minute
    package var minutes: Int
    package var counts: AttemptCounts

    package init(first: Minute, minutes: Int, counts: AttemptCounts) {
        self.first = first
        self.minutes = minutes
        self.counts = counts
    }

    package var last: Minute { first + (minutes - 1) }
}
