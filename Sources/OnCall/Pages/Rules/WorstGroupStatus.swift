import AlertRules
import Attempts
import PushContract

/// How near a rule is to firing: the share of bad attempts over the rule's own window, in the group that is worst.
struct WorstGroupStatus: Hashable {
    var share: Double
    var threshold: Double
    var bad: Int64
    var attempts: Int64
    /// `provider=fcm`, or `all`.
    var group: String
    /// Bad attempts that it takes.
    var minBad: Int64 = 0
    /// Minutes that were above the threshold, and how many it takes.
    var minutesAbove = 0
    var minutesNeeded = 0

    /// 1 is the threshold.
    var fraction: Double { threshold > 0 ? share / threshold : 0 }

    /// For `<meter>`: 0 to 100, where 100 is the threshold.
    var meter: String { "\(Int(min(100, percent)))" }

    var meterText: String { "\(NumberText.count(Int(percent))) % of the threshold" }

    private var percent: Double { (fraction * 100).rounded() }

    /// Why a rule that does not fire is quiet above its threshold, as far as the counts of its window say; nil where it is not above.
    var quietReason: String? {
        guard share > threshold else { return nil }
        if bad < minBad { return "too few failures: \(NumberText.count(bad)), and it takes \(NumberText.count(minBad))" }
        if minutesAbove < minutesNeeded {
            let minutes = "\(minutesAbove) \(minutesAbove == 1 ? "minute" : "minutes")"
            return "not for long enough: above the threshold in \(minutes), and it takes \(minutesNeeded)"
        }
        return "not proven: its newest minutes are better, or it has too few attempts"
    }

    /// Nil when nothing was attempted.
    static func worst(_ groups: [WorstGroupStatus]) -> WorstGroupStatus? {
        groups.filter { $0.attempts > 0 }.max { ($0.share, $1.group) < ($1.share, $0.group) }
    }
}

extension WorstGroupStatus {
    /// Of the counts of one group, those of a minute each.
    init(_ counts: [RollupCounts], group: String, of ratio: RatioCondition) {
        let minutes = counts.map { AttemptCounts(attempts: $0.attempts, bad: $0.bad) }
        let all = minutes.reduce(AttemptCounts()) { $0 + $1 }
        // As the rule does: half of its minutes at least.
        let judged = max(minutes.count { $0.attempts > 0 }, (ratio.duration.minutes + 1) / 2)
        self.init(
            share: all.share ?? 0,
            threshold: ratio.above.double,
            bad: all.bad,
            attempts: all.attempts,
            group: group,
            minBad: ratio.minBad,
            minutesAbove: minutes.count { $0.isAbove(ratio.above) },
            minutesNeeded: Int((ratio.quorum.double * Double(judged)).rounded(.up))
        )
    }
}
