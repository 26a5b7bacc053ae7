import AlertRules
import HTTPServer
import Metrics
import PushContract

/// The metrics of the evaluator.
struct EvaluatorMetrics: Sendable {
    private let lag = AgeGauge(label: "pushwatch_alert_evaluation_lag_seconds")
    private let duration = Metrics.Timer(label: "pushwatch_alert_evaluation_duration_seconds")
    private let waiting = Gauge(label: "pushwatch_alert_waiting_for_writers_seconds")
    private let failing = Gauge(label: "pushwatch_alert_rules_failing")
    private let open = Severity.allCases.map {
        ($0, Gauge(label: "pushwatch_alerts_firing", dimensions: [("severity", $0.rawValue)]))
    }

    /// Attempts that were reported after their minute was evaluated; only counted when they are too old, or imported.
    func late(_ attempts: Int64, isEvaluated: Bool) {
        Counter(label: "pushwatch_alert_late_attempts_total", dimensions: [("result", isEvaluated ? "evaluated" : "counted")])
            .increment(by: attempts)
    }

    /// How much longer than usual the newest minute is waited for, because a writer holds outcomes of it.
    func waiting(for duration: Duration) { waiting.record(duration.inSeconds) }

    /// Apps that a rule by app counts together, as it is evaluated for the largest only.
    func folded(_ apps: Int, rule: String) {
        Gauge(label: "pushwatch_alert_rule_apps_folded", dimensions: [("rule", rule)]).record(apps)
    }

    /// Another instance evaluates: its lag counts.
    func idle() {
        lag.record(since: nil)
        waiting(for: .zero)
    }

    /// `through`: the end of the newest minute that every rule is evaluated for.
    func evaluated(through: Timestamp, duration: Duration, faults: Int, open counts: [Severity: Int]) {
        lag.record(since: through)
        self.duration.recordNanoseconds(duration.microseconds * 1000)
        failing.record(faults)
        for (severity, gauge) in open { gauge.record(counts[severity] ?? 0) }
    }
}
