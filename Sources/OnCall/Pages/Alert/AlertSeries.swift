import AlertRules
import Alerting
import Attempts
import PushContract

/// The share of bad attempts over an alert's time and an hour before it.
struct AlertSeries: Hashable {
    /// Beyond this many slots a chart shows no more than it does with fewer.
    private static let slotLimit = 360
    /// A page must stay cheap for an alert that has been firing for weeks.
    private static let minuteLimit = 7 * 1_440

    /// A whole minute.
    var from: Timestamp
    var minutesPerSlot: Int
    var slots: [AttemptCounts]

    /// The minutes that belong on the chart.
    static func span(of alert: Alert, now: Timestamp) -> (from: Timestamp, minutes: Int) {
        let end = min(now, (alert.resolvedAt ?? now) + .seconds(900)).flooredToMinute()
        let first = min(alert.startsAt, Timestamp(seconds: alert.evidence.observed.first.second)).flooredToMinute() - .seconds(3_600)
        let minutes = Int(max(1, end.minute - first.minute))
        return minutes > minuteLimit ? (end - .seconds(minuteLimit * 60), minuteLimit) : (first, minutes)
    }

    init(from: Timestamp, minutes: Int, counts: [RollupCounts]) {
        self.from = from
        let width = max(1, (minutes + Self.slotLimit - 1) / Self.slotLimit)
        minutesPerSlot = width
        slots = [AttemptCounts](repeating: AttemptCounts(), count: (minutes + width - 1) / width)
        for count in counts where (0..<Int64(minutes)).contains(count.period - from.minute) {
            let index = Int(count.period - from.minute) / width
            slots[index] = slots[index] + AttemptCounts(attempts: count.attempts, bad: count.bad)
        }
    }

    var shares: [Double?] { slots.map(\.share) }
    var time: TimeAxis { TimeAxis(from: from, minutes: slots.count * minutesPerSlot) }
}
