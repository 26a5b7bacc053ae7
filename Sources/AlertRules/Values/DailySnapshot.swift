/// Minutes that must not teach the baseline: a long incident, entered by an operator.
package struct BaselineExclusion: Sendable, Hashable, Codable {
    package var from: Minute
    /// The first minute after the exclusion.
    package var to: Minute
    package var reason: String

    package init(from: Minute, to: Minute, reason: String) {
        self.from = from
        self.to = to
        self.reason = reason
    }

    func covers(_ minute: Minute) -> Bool { from <= minute && minute < to }
}

/// Reduces minutes to whole UTC days.
enum DailySnapshot {
    /// One entry for every UTC day the series touches, oldest first.
    static func days(of series: MinuteSeries, exclusions: [BaselineExclusion] = []) -> [DayCounts] {
        guard !series.isEmpty else { return [] }
        return (series.first.day...(series.end - 1).day).map { snapshot(of: series, day: $0, exclusions: exclusions) }
    }

    static func snapshot(of series: MinuteSeries, day: Int64, exclusions: [BaselineExclusion]) -> DayCounts {
        let from = Minute.firstOf(day: day)
        let relevant = exclusions.filter { $0.from < from + 1440 && $0.to > from }
        let hours = (0..<24).map { hour -> AttemptCounts in
            guard !relevant.isEmpty else { return series.window(endingAt: from + (hour * 60 + 59), minutes: 60) }
            return (0..<60).map { from + (hour * 60 + $0) }.filter { minute in !relevant.contains { $0.covers(minute) } }
                .reduce(AttemptCounts()) { $0 + series[$1] }
        }
        let excluded = relevant.isEmpty ? 0 : (0..<1440).count { offset in relevant.contains { $0.covers(from + offset) } }
        return DayCounts(day: day, hours: hours, excludedMinutes: excluded)
    }
}
