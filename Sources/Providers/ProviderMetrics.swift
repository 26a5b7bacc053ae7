import CoreMetrics
import Metrics
import PushContract

/// What is counted about tries at a provider. All labels are closed sets.
struct ProviderMetrics: Sendable {
    private let provider: String
    private let duration: Metrics.Timer

    init(_ provider: Provider) {
        self.provider = provider.rawValue
        duration = Metrics.Timer(label: "pushwatch_provider_request_seconds", dimensions: [("provider", provider.rawValue)])
    }

    /// One try's outcome. Only answered requests are timed; waits for an answer that never came would measure our own limit.
    func note(_ outcome: PushOutcome) {
        let dimensions = [
            ("provider", provider), ("outcome", outcome.outcomeUnknown ? "unknown" : outcome.status.rawValue),
            ("reason", outcome.reasonCode?.rawValue ?? "none"),
        ]
        Counter(label: "pushwatch_provider_requests_total", dimensions: dimensions).increment()
        if outcome.httpStatus != nil { duration.record(duration: outcome.latency) }
    }
}
