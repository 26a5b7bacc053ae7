import Metrics
import PushContract

/// What the courier says about itself.
struct CourierMetrics: Sendable {
    private let waiting = Gauge(label: "pushwatch_alert_outbox_waiting")
    private let oldest = Gauge(label: "pushwatch_alert_outbox_oldest_seconds")

    func delivered(_ receiver: String, _ outcome: DeliveryOutcome) {
        Counter(
            label: "pushwatch_alert_deliveries_total",
            dimensions: [("receiver", receiver), ("result", outcome.result.rawValue)]
        ).increment()
        Metrics.Timer(label: "pushwatch_alert_delivery_duration_seconds", dimensions: [("receiver", receiver)])
            .recordNanoseconds(outcome.latency.microseconds * 1000)
    }

    func outbox(count: Int, oldest age: Duration?) {
        waiting.record(count)
        oldest.record(age?.inSeconds ?? 0)
    }
}
