package import AlertRules

/// The share of bad attempts of a group while nothing is wrong: a threshold must be well above it.
enum HealthyShare {
    /// With fewer slices of traffic there is no 95th percentile.
    private static let fewest = 20

    /// The 95th percentile over slices of the history, each at least as long as the rule's `for` and with enough attempts that
    /// `min_bad` of them would be the threshold. Slices that touch an alert are not healthy and are left out.
    ///
    /// Nil for other rules than ratios, and with too little traffic to decide.
    static func percentile95(
        _ rule: AlertRule,
        _ history: GroupHistory,
        _ alerts: [BacktestAlert],
        span: BacktestSpan
    ) -> Double? {
        guard let ratio = rule.condition.ratio else { return nil }
        let shares = slices(ratio, history.total, alerts.filter { $0.group == history.group }, span).compactMap(\.share).sorted()
        guard shares.count >= fewest else { return nil }
        return shares[min(shares.count - 1, shares.count * 95 / 100)]
    }

    private static func slices(
        _ ratio: RatioCondition,
        _ series: MinuteSeries,
        _ alerts: [BacktestAlert],
        _ span: BacktestSpan
    ) -> [AttemptCounts] {
        let enough = Double(ratio.minBad) / ratio.above.double
        let step = ratio.duration.minutes
        var slices: [AttemptCounts] = []
        var slice = AttemptCounts()
        for first in stride(from: span.since.index, through: span.last.index - Int64(step) + 1, by: step) {
            let last = Minute(first) + (step - 1)
            if alerts.contains(where: { $0.fired.startsAt <= last && ($0.resolvedAt ?? span.last + 1) > Minute(first) }) {
                slice = AttemptCounts()
                continue
            }
            slice = slice + series.window(endingAt: last, minutes: step)
            if Double(slice.attempts) >= enough {
                slices.append(slice)
                slice = AttemptCounts()
            }
        }
        return slices
    }
}

extension RuleBacktest {
    /// Warnings for ratio rules whose healthy share is above half the threshold somewhere.
    package func healthFindings(_ rules: [AlertRule], onProgress: (Progress) -> Void = { _ in }) async throws -> [Finding] {
        var findings: [Finding] = []
        for rule in rules where rule.condition.ratio != nil {
            _ = try await fold(rule, onProgress: onProgress) { history, alerts in
                let alerts = alerts.filter { $0.lasts(since: span.since) }
                guard let share = HealthyShare.percentile95(rule, history, alerts, span: span) else { return }
                if let finding = RuleCheck.healthyShareFinding(rule, group: history.group, healthy: share) { findings.append(finding) }
            }
        }
        return findings
    }
}
