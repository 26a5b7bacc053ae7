import HTTPServer
import Metrics
import PushContract

/// What the notifier says about itself.
struct NotifierMetrics: Sendable {
    private let waiting = Gauge(label: "pushwatch_alert_notifications_pending")
    private let oldest = AgeGauge(label: "pushwatch_alert_notifications_oldest_pending_seconds")

    func delivered(_ receiver: String, _ outcome: NotificationOutcome) {
        Counter(
            label: "pushwatch_alert_notifications_total",
            dimensions: [("receiver", receiver), ("result", outcome.result.rawValue)]
        ).increment()
        Metrics.Timer(label: "pushwatch_alert_notification_duration_seconds", dimensions: [("receiver", receiver)])
            .recordNanoseconds(outcome.latency.microseconds * 1000)
    }

    func outbox(count: Int, oldest: Timestamp?) {
        waiting.record(count)
        self.oldest.record(since: oldest)
    }
}
