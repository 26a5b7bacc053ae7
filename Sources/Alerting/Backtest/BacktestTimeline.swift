import AlertRules

/// A line of cells for the time of a backtest.
enum BacktestTimeline {
    /// `█` firing for at least half of a cell's time, `▌` for some of it, `·` not at all.
    static func line(_ alerts: [BacktestAlert], span: BacktestSpan, cells: Int) -> String {
        (0..<cells).map { cell in
            let from = span.since + cell * span.minutes / cells
            let to = span.since + (cell + 1) * span.minutes / cells
            let firing = alerts.reduce(0) { $0 + overlap($1, from, to, span) }
            if firing == 0 { return "·" }
            return firing * 2 >= to - from ? "█" : "▌"
        }.joined()
    }

    /// Minutes of an alert between two minutes; an alert shorter than a minute of the cell still shows.
    private static func overlap(_ alert: BacktestAlert, _ from: Minute, _ to: Minute, _ span: BacktestSpan) -> Int {
        let end = alert.resolvedAt ?? span.last + 1
        return max(0, min(end, to) - max(alert.firedAt, from))
    }
}
