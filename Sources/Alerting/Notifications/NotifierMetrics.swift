import HTTPServer
import Metrics
import PushContract

/// The metrics of the notifier.
struct NotifierMetrics: Sendable {
    private let waiting = Gauge(label: "pushwatch_alert_notifications_pending")
    private let oldest = AgeGauge(label: "pushwatch_alert_notifications_oldest_pending_seconds")

    func delivered(_ receiver: String, _ outcome: NotificationOutcome) {
        count(receiver, outcome.result).increment()
        Metrics.Timer(label: "pushwatch_alert_notification_duration_seconds", dimensions: [("receiver", receiver)])
            .recordNanoseconds(outcome.latency.microseconds * 1000)
    }

    /// Makes the counts of these receivers: the rate of a series does not count the event it begins with.
    func begin(_ receivers: [String]) {
        for receiver in receivers {
            for result in NotificationOutcome.Result.allCases { count(receiver, result).increment(by: 0) }
        }
    }

    private func count(_ receiver: String, _ result: NotificationOutcome.Result) -> Counter {
        Counter(label: "pushwatch_alert_notifications_total", dimensions: [("receiver", receiver), ("result", result.rawValue)])
    }

    func outbox(count: Int, oldest: Timestamp?) {
        waiting.record(count)
        self.oldest.record(since: oldest)
    }
}
