import CoreMetrics
import Metrics
import PushContract

/// The numbers of the send path. Labels are closed sets; apps are the operator's own, and few.
enum SendMetrics {
    /// Outcomes that came after their lease had been taken over.
    static let stale = Counter(label: "pushwatch_sends_stale_outcomes_total")
    static let claimed = Counter(label: "pushwatch_sends_claimed_total")
    static let reaped = Counter(label: "pushwatch_sends_leases_expired_total")

    /// One delivery's outcome: a try's, or its end without one.
    static func count(_ completion: Completion, tokenWentOff: Bool) {
        let attempt = completion.attempt
        let dimensions = [
            ("provider", attempt?.provider.rawValue ?? "none"), ("outcome", outcome(completion, tokenWentOff: tokenWentOff)),
            ("reason", attempt?.reasonCode?.rawValue ?? "none"),
        ]
        Counter(label: "pushwatch_sends_results_total", dimensions: dimensions).increment()
        guard let attempt, let latency = attempt.latencyMs else { return }
        Metrics.Timer(label: "pushwatch_sends_attempt_duration_seconds", dimensions: [("provider", attempt.provider.rawValue)])
            .recordMilliseconds(Int64(latency))
    }

    /// Depth and age as last counted.
    static func gauge(_ backlog: Backlog) {
        for lane in backlog.lanes {
            let labels = [
                ("app", lane.lane.app), ("provider", lane.lane.provider.rawValue), ("critical", lane.lane.isCritical ? "true" : "false"),
            ]
            let states = [
                ("ready", lane.ready), ("retrying", lane.retrying), ("scheduled", lane.scheduled), ("held", lane.held),
                ("sending", lane.sending),
            ]
            for (state, count) in states {
                Gauge(label: "pushwatch_sends_queue_depth", dimensions: labels + [("state", state)]).record(count)
            }
            let age = lane.oldestReadyAt.map { max(0, (backlog.at - $0).inSeconds) } ?? 0
            Gauge(label: "pushwatch_sends_queue_oldest_seconds", dimensions: labels).record(age)
            let isPaused = backlog.pauses.contains { $0.applies(to: lane.lane) }
            Gauge(label: "pushwatch_sends_lane_paused", dimensions: labels).record(isPaused ? 1 : 0)
        }
        for provider in Provider.allCases {
            let holds = backlog.holds.count { $0.scope.provider == provider }
            Gauge(label: "pushwatch_sends_holds", dimensions: [("provider", provider.rawValue)]).record(holds)
        }
    }

    /// Breakers that are open, and the tokens that wait for a decision.
    static func gauge(_ breakers: [TokenBreaker]) {
        for provider in Provider.allCases {
            let own = breakers.filter { $0.place.provider == provider }
            let labels = [("provider", provider.rawValue)]
            Gauge(label: "pushwatch_sends_token_breakers", dimensions: labels).record(own.count)
            Gauge(label: "pushwatch_sends_tokens_withheld", dimensions: labels).record(own.reduce(0) { $0 + $1.withheld })
        }
    }

    private static func outcome(_ completion: Completion, tokenWentOff: Bool) -> String {
        if tokenWentOff { return "deactivated" }
        return switch completion.next {
        case .sent: "sent"
        case .cancelled: "cancelled"
        case .retry: "retry"
        case .held: "held"
        case .dead(let outcome, _, _): outcome.rawValue
        }
    }
}
