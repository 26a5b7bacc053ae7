/// When a rise that a baseline found began.
enum BaselineStart {
    /// The minute from which the excess over half-way to the threshold adds up to the most.
    ///
    /// A window of an hour may fire minutes after a steep rise; its first minute would be a wrong answer to "since when?".
    static func minute(of onset: EvaluatedWindow, _ condition: BaselineCondition, _ series: MinuteSeries) -> Minute {
        let counts = onset.window.counts
        let perAttempt: Double
        if let expected = onset.expected, counts.attempts > 0 {
            perAttempt = expected / Double(counts.attempts) * (1 + condition.above.double) / 2
        } else {
            perAttempt = (condition.warnAbove ?? condition.minShare).double / 2
        }
        var sum = 0.0
        var best = (sum: -Double.infinity, minute: onset.window.first)
        for offset in 0..<onset.window.minutes {
            let candidate = onset.window.last - offset
            let now = series[candidate]
            sum += Double(now.bad) - Double(now.attempts) * perAttempt
            if sum > best.sum, now.bad > 0 { best = (sum, candidate) }
        }
        return best.minute
    }
}
