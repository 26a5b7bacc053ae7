/// A wait that doubles with each failure: `minimum` + random(0 … min(`cap`, `base` × 2ⁿ)).
package struct Backoff: Sendable, Hashable {
    package var base: Duration
    package var minimum: Duration
    package var cap: Duration

    package init(base: Duration, minimum: Duration = .zero, cap: Duration) {
        self.base = base
        self.minimum = minimum
        self.cap = cap
    }

    /// `base`, doubled with each failure after the first, at most `cap`.
    package func ceiling(failures: Int) -> Duration {
        min(base * (1 << min(max(failures - 1, 0), 30)), cap)
    }

    /// With full jitter: retries after an outage spread over the whole wait instead of arriving together.
    ///
    /// - Parameter random: in 0...1; 1 gives the longest wait.
    package func wait(failures: Int, random: Double) -> Duration {
        minimum + ceiling(failures: failures) * min(max(random, 0), 1)
    }
}
