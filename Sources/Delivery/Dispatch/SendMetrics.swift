import CoreMetrics
import HTTPServer
import Metrics
import Providers
import PushContract

/// The numbers of the send path. Labels are closed sets; apps are the operator's own, and few.
enum SendMetrics {
    /// Outcomes that came after their lease had been taken over.
    static let stale = Counter(label: "pushwatch_sends_stale_outcomes_total")
    static let claimed = Counter(label: "pushwatch_sends_claimed_total")
    static let reaped = Counter(label: "pushwatch_sends_leases_expired_total")
    /// Of what most outcomes are: a metric by its labels is looked up each time.
    private static let sent = Provider.allCases.map { results($0.rawValue, outcome: "sent", reason: "none") }
    private static let durations = Provider.allCases.map {
        Metrics.Timer(label: "pushwatch_sends_attempt_duration_seconds", dimensions: [("provider", $0.rawValue)])
    }

    /// One delivery's outcome: a try's, or its end without one.
    static func count(_ delivered: QueueDeliveries.Outcome, isTokenDeactivated: Bool) {
        let attempt = delivered.attempt
        let outcome = outcome(delivered, isTokenDeactivated: isTokenDeactivated)
        let index = (attempt?.provider).flatMap(Provider.allCases.firstIndex)
        if let index, outcome == "sent", attempt?.reasonCode == nil {
            sent[index].increment()
        } else {
            results(attempt?.provider.rawValue ?? "none", outcome: outcome, reason: attempt?.reasonCode?.rawValue ?? "none").increment()
        }
        if let attempt, let code = attempt.providerErrorCode, PushOutcome.unsentCodes.contains(code) {
            let labels = [("provider", attempt.provider.rawValue), ("code", code)]
            Counter(label: "pushwatch_provider_unsent_total", dimensions: labels).increment()
        }
        guard let index, let latency = attempt?.latencyMs else { return }
        durations[index].recordMilliseconds(Int64(latency))
    }

    private static func results(_ provider: String, outcome: String, reason: String) -> Counter {
        let dimensions = [("provider", provider), ("outcome", outcome), ("reason", reason)]
        return Counter(label: "pushwatch_sends_results_total", dimensions: dimensions)
    }

    /// Depth and age as last counted.
    static func gauge(_ backlog: Backlog) {
        for queue in backlog.queues {
            let labels = [
                ("app", queue.queue.app), ("provider", queue.queue.provider.rawValue),
                ("environment", queue.queue.environment.rawValue), ("class", queue.queue.deliveryClass.rawValue),
            ]
            let states = [
                ("queued", queue.queued), ("retrying", queue.retrying), ("scheduled", queue.scheduled), ("blocked", queue.blocked),
                ("sending", queue.sending),
            ]
            for (state, count) in states {
                Gauge(label: "pushwatch_sends_queue_depth", dimensions: labels + [("state", state)]).record(count)
            }
            AgeGauge(label: "pushwatch_sends_queue_oldest_seconds", dimensions: labels).record(since: queue.oldestReadyAt)
            let isPaused = backlog.pauses.contains { $0.applies(to: queue.queue) }
            Gauge(label: "pushwatch_sends_queue_paused", dimensions: labels).record(isPaused ? 1 : 0)
        }
        for provider in Provider.allCases {
            for kind in CircuitKind.allCases {
                let circuits = backlog.circuits.count { $0.scope.provider == provider && $0.scope.kind == kind }
                let labels = [("provider", provider.rawValue), ("kind", kind.rawValue)]
                Gauge(label: "pushwatch_sends_open_circuits", dimensions: labels).record(circuits)
            }
        }
    }

    /// Open limiters, and the tokens that wait for a decision.
    static func gauge(_ limiters: [DeactivationLimiter]) {
        for provider in Provider.allCases {
            let own = limiters.filter { $0.scope.provider == provider }
            let labels = [("provider", provider.rawValue)]
            Gauge(label: "pushwatch_sends_deactivation_limiters", dimensions: labels).record(own.count)
            Gauge(label: "pushwatch_sends_tokens_deferred", dimensions: labels).record(own.reduce(0) { $0 + $1.deferred })
        }
    }

    private static func outcome(_ delivered: QueueDeliveries.Outcome, isTokenDeactivated: Bool) -> String {
        if isTokenDeactivated { return "deactivated" }
        return switch delivered.consequence?.next {
        case .sent: "sent"
        case .cancelled: "cancelled"
        case .superseded: "superseded"
        case .retry: "retry"
        case .blocked: "blocked"
        case .dead(let outcome, _, _): outcome.rawValue
        case nil: "none"
        }
    }
}
