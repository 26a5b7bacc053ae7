/// Reduces minutes to whole UTC days.
enum DailySnapshot {
    /// One entry for every UTC day the series touches, oldest first.
    static func days(of series: MinuteSeries) -> [DayCounts] {
        guard !series.isEmpty else { return [] }
        return (series.first.day...(series.end - 1).day).map { day in
            let from = Minute.firstOf(day: day)
            return DayCounts(day: day, hours: (0..<24).map { series.window(endingAt: from + ($0 * 60 + 59), minutes: 60) })
        }
    }
}
