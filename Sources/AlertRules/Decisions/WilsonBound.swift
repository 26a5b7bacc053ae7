/// The lower end of Wilson's score interval for a share (one-sided).
package enum WilsonBound: String, Sendable, Hashable, CaseIterable {
    case percent95 = "95%"
    case percent99 = "99%"
    case percent999 = "99.9%"

    /// The quantile of the standard normal distribution.
    private var z: Double {
        switch self {
        case .percent95: 1.6448536269514722
        case .percent99: 2.3263478740408408
        case .percent999: 3.0902323061678132
        }
    }

    /// The share that the true share exceeds with this confidence; zero without attempts.
    package func lowerBound(_ counts: AttemptCounts) -> Double {
        guard counts.attempts > 0 else { return 0 }
        let n = Double(counts.attempts)
        let share = Double(counts.bad) / n
        let square = z * z
        let center = share + square / (2 * n)
        let spread = z * (share * (1 - share) / n + square / (4 * n * n)).squareRoot()
        return max(0, (center - spread) / (1 + square / n))
    }
}
