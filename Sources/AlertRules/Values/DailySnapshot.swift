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
}

/// Reduces minutes to whole UTC days and hours.
enum DailySnapshot {
    /// One entry for every UTC day the series touches, oldest first.
    static func days(of series: MinuteSeries, exclusions: [BaselineExclusion] = []) -> [DayCounts] {
        guard !series.isEmpty else { return [] }
        return (series.first.day...(series.end - 1).day).map { snapshot(of: series, day: $0, exclusions: exclusions) }
    }

    static func snapshot(of series: MinuteSeries, day: Int64, exclusions: [BaselineExclusion]) -> DayCounts {
        let from = Minute.firstOf(day: day)
        let to = from + 1440
        let relevant = exclusions.filter { $0.from < to && $0.to > from }
        guard !relevant.isEmpty else {
            let counts = series.window(endingAt: to - 1, minutes: 1440)
            return DayCounts(day: day, attempts: counts.attempts, bad: counts.bad)
        }
        var kept = AttemptCounts()
        var excluded = 0
        for offset in 0..<1440 {
            let minute = from + offset
            if relevant.contains(where: { $0.from <= minute && minute < $0.to }) {
                excluded += 1
            } else {
                kept = kept + series[minute]
            }
        }
        return DayCounts(day: day, attempts: kept.attempts, bad: kept.bad, excludedMinutes: excluded)
    }

    /// One entry for every UTC hour the series touches, oldest first.
    static func hours(of series: MinuteSeries, exclusions: [BaselineExclusion] = []) -> [HourCounts] {
        guard !series.isEmpty else { return [] }
        return (series.first.index / 60...(series.end - 1).index / 60).map { hour in
            let counts = (0..<60).map { Minute(hour * 60 + $0) }
                .filter { minute in !exclusions.contains { $0.from <= minute && minute < $0.to } }
                .reduce(AttemptCounts()) { $0 + series[$1] }
            return HourCounts(hour: hour, attempts: counts.attempts, bad: counts.bad)
        }
    }
}
