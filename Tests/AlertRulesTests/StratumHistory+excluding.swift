import AlertRules

extension StratumHistory {
    /// With training days that are counted without some minutes, as the days that are read from the rollups are.
    init(key: GroupKey, series: MinuteSeries, excluding excluded: [Range<Minute>]) {
        let kept = (0..<series.count).map { offset in
            let minute = series.first + offset
            return excluded.contains { $0.contains(minute) } ? AttemptCounts() : series[minute]
        }
        let days = StratumHistory(key: key, series: MinuteSeries(first: series.first, minutes: kept)).days
        self.init(key: key, series: series, days: days)
    }
}
