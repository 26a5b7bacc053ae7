import CoreMetrics
import Metrics
import PushContract

/// Metrics of attempts at a provider. All labels are closed sets.
struct ProviderMetrics: Sendable {
    private let provider: String
    private let duration: Metrics.Timer

    init(_ provider: Provider) {
        self.provider = provider.rawValue
        duration = Metrics.Timer(label: "pushwatch_provider_request_seconds", dimensions: [("provider", provider.rawValue)])
    }

    /// Counts the outcome of an attempt. Only answered requests are timed; a request without an answer would measure our own timeout.
    func note(_ outcome: PushOutcome) {
        let dimensions = [
            ("provider", provider), ("outcome", outcome.outcomeUnknown ? "unknown" : outcome.status.rawValue),
            ("reason", outcome.reasonCode?.rawValue ?? "none"),
        ]
        Counter(label: "pushwatch_provider_requests_total", dimensions: dimensions).increment()
        if outcome.httpStatus != nil { duration.record(duration: outcome.latency) }
    }
}
