import AlertRules

/// How near a rule is to firing: the share of bad attempts over the rule's own window, in the group that is worst.
struct WorstGroupStatus: Hashable {
    /// Of the window.
    var counts: AttemptCounts
    var threshold: Fraction
    /// `provider=fcm`, or `all`.
    var group: String
    /// Bad attempts that it takes.
    var minBad: Int64 = 0
    /// Minutes above the threshold, and how many it takes; nil where it is not known.
    var quorum: RatioQuorum?

    var share: Double { counts.share ?? 0 }

    /// 1 is the threshold.
    var fraction: Double { share / threshold.double }

    /// `0.4 % of 5 %`
    var text: String { "\(NumberText.percent(share)) of \(threshold.percent)" }

    /// For `<meter>`: 0 to 100, where 100 is the threshold.
    var meter: String { "\(Int(min(100, percent)))" }

    var meterText: String { "\(NumberText.count(Int(percent))) % of the threshold" }

    private var percent: Double { (fraction * 100).rounded() }

    /// Why a rule that does not fire is quiet above its threshold, as far as the counts of its window say; nil where it is not above.
    var quietReason: String? {
        guard counts.isAbove(threshold) else { return nil }
        if counts.bad < minBad { return "too few failures: \(NumberText.count(counts.bad)), and it takes \(NumberText.count(minBad))" }
        if let quorum, quorum.breaches < quorum.breachesNeeded {
            let minutes = "\(quorum.breaches) \(quorum.breaches == 1 ? "minute" : "minutes")"
            return "not for long enough: above the threshold in \(minutes), and it takes \(quorum.breachesNeeded)"
        }
        return "not proven: its newest minutes are better, or it has too few attempts"
    }

    /// Nil when nothing was attempted.
    static func worst(_ groups: [WorstGroupStatus]) -> WorstGroupStatus? {
        groups.filter { $0.counts.attempts > 0 }.max { ($0.share, $1.group) < ($1.share, $0.group) }
    }
}

extension WorstGroupStatus {
    /// Of one group's minutes up to `last`, those of the smooth window before the rule's window included.
    init(_ series: MinuteSeries, through last: Minute, group: String, of ratio: RatioCondition) {
        self.init(
            counts: series.window(endingAt: last, minutes: ratio.duration.minutes),
            threshold: ratio.above,
            group: group,
            minBad: ratio.minBad,
            quorum: RatioQuorum(ratio, series: series, endingAt: last)
        )
    }
}
