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

    /// 1 is the threshold.
    var fraction: Double { threshold > 0 ? share / threshold : 0 }

    /// Of the counts of one window, each with its group; nil when nothing was attempted.
    static func worst(_ groups: [(group: String, bad: Int64, attempts: Int64)], threshold: Double) -> WorstGroupStatus? {
        groups.filter { $0.attempts > 0 }
            .map {
                WorstGroupStatus(
                    share: Double($0.bad) / Double($0.attempts),
                    threshold: threshold,
                    bad: $0.bad,
                    attempts: $0.attempts,
                    group: $0.group
                )
            }
            .max { ($0.share, $1.group) < ($1.share, $0.group) }
    }
}
