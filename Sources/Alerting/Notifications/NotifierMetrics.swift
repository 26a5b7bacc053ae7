import Metrics
import PushContract

/// What the notifier says about itself.
struct NotifierMetrics: Sendable {
    private let waiting = Gauge(label: "pushwatch_alert_notifications_pending")
    private let oldest = Gauge(label: "pushwatch_alert_notifications_oldest_pending_seconds")

    func delivered(_ receiver: String, _ outcome: NotificationOutcome) {
        Counter(
            label: "pushwatch_alert_notifications_total",
            dimensions: [("receiver", receiver), ("result", outcome.result.rawValue)]
        ).increment()
        Metrics.Timer(label: "pushwatch_alert_notification_duration_seconds", dimensions: [("receiver", receiver)])
            .recordNanoseconds(outcome.latency.microseconds * 1000)
    }

    func outbox(count: Int, oldest age: Duration?) {
        waiting.record(count)
        oldest.record(age?.inSeconds ?? 0)
    }
}
