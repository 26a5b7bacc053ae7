/// Counts of consecutive minutes, stored as running sums, so that any window costs two look-ups.
///
/// Minutes outside the series, and minutes that were not given, have no attempts.
package struct MinuteSeries: Sendable, Hashable {
    package let first: Minute
    private var attemptSums: [Int64]
    private var badSums: [Int64]

    /// Rows in any order; several rows of one minute add up.
    package init(_ rows: some Collection<MinuteCounts>) {
        guard let first = rows.map(\.minute).min(), let last = rows.map(\.minute).max() else {
            self.init(first: Minute(0), minutes: [])
            return
        }
        var minutes = [AttemptCounts](repeating: AttemptCounts(), count: last - first + 1)
        for row in rows { minutes[row.minute - first] = minutes[row.minute - first] + row.counts }
        self.init(first: first, minutes: minutes)
    }

    package init(first: Minute, minutes: some Sequence<AttemptCounts>) {
        self.first = first
        attemptSums = [0]
        badSums = [0]
        for counts in minutes { append(counts) }
    }

    /// The first minute after the series.
    package var end: Minute { first + count }
    package var count: Int { attemptSums.count - 1 }
    package var isEmpty: Bool { count == 0 }

    /// Adds the counts of the minute `end`.
    package mutating func append(_ counts: AttemptCounts) {
        attemptSums.append(attemptSums[attemptSums.count - 1] + counts.attempts)
        badSums.append(badSums[badSums.count - 1] + counts.bad)
    }

    package subscript(minute: Minute) -> AttemptCounts { window(endingAt: minute, minutes: 1) }

    /// The sum over `minutes` minutes up to and including `last`.
    package func window(endingAt last: Minute, minutes: Int) -> AttemptCounts {
        let upper = min(max(last - first + 1, 0), count)
        let lower = min(max(last - first + 1 - minutes, 0), count)
        return AttemptCounts(attempts: attemptSums[upper] - attemptSums[lower], bad: badSums[upper] - badSums[lower])
    }

    package func evidence(endingAt last: Minute, minutes: Int) -> WindowCounts {
        WindowCounts(first: last - (minutes - 1), minutes: minutes, counts: window(endingAt: last, minutes: minutes))
    }

    /// The minute of the window from which on the sum of `excess` is largest: where a change most likely began.
    func changePoint(in window: WindowCounts, _ excess: (AttemptCounts) -> Double) -> Minute {
        var (sum, largest, first) = (0.0, -Double.infinity, window.last)
        for offset in 0..<window.minutes {
            sum += excess(self[window.last - offset])
            if sum >= largest { (largest, first) = (sum, window.last - offset) }
        }
        return first
    }

    /// The first minute with an attempt.
    package var firstAttempt: Minute? {
        attemptSums.firstIndex { $0 > 0 }.map { first + ($0 - 1) }
    }

    /// The first minute with a bad attempt.
    package var firstBad: Minute? { badSums.firstIndex { $0 > 0 }.map { first + ($0 - 1) } }

    /// The sum over the whole series.
    package var counts: AttemptCounts { AttemptCounts(attempts: attemptSums[count], bad: badSums[count]) }

    /// The last minute up to `limit` with an attempt; nil without one.
    package func lastAttempt(through limit: Minute) -> Minute? {
        var position = min(max(limit - first + 1, 0), count)
        while position > 0, attemptSums[position] == attemptSums[position - 1] { position -= 1 }
        return position > 0 ? first + (position - 1) : nil
    }

    /// The sum of several series, minute by minute.
    package static func sum(_ series: [MinuteSeries]) -> MinuteSeries {
        let filled = series.filter { !$0.isEmpty }
        guard filled.count > 1, let first = filled.map(\.first).min(), let end = filled.map(\.end).max() else {
            return filled.first ?? MinuteSeries(first: Minute(0), minutes: [])
        }
        let minutes = (0..<(end - first)).map { offset in
            filled.reduce(AttemptCounts()) { $0 + $1[first + offset] }
        }
        return MinuteSeries(first: first, minutes: minutes)
    }
}
