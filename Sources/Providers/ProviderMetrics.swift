import CoreMetrics
import HTTPClient
import Metrics
import PushContract

/// Metrics of attempts at a provider. All labels are closed sets.
struct ProviderMetrics: Sendable {
    private let provider: String
    private let duration: Metrics.Timer
    /// Of what most outcomes are: a counter by its labels is looked up each time.
    private let sent: Counter

    init(_ provider: Provider) {
        self.provider = provider.rawValue
        sent = ProviderMetrics.counter(provider.rawValue, outcome: AttemptStatus.sent.rawValue, reason: "none")
        duration = Metrics.Timer(label: "pushwatch_provider_request_seconds", dimensions: [("provider", provider.rawValue)])
    }

    /// Counts the outcome of an attempt. Only answered requests are timed; a request without an answer would measure our own timeout.
    func note(_ outcome: PushOutcome) {
        if outcome.status == .sent, outcome.reasonCode == nil, !outcome.outcomeUnknown {
            sent.increment()
        } else {
            let name = outcome.outcomeUnknown ? "unknown" : outcome.status.rawValue
            ProviderMetrics.counter(provider, outcome: name, reason: outcome.reasonCode?.rawValue ?? "none").increment()
        }
        if let kind = outcome.unansweredKind {
            let labels = [("provider", provider), ("code", kind.rawValue)]
            Counter(label: "pushwatch_provider_unanswered_total", dimensions: labels).increment()
        }
        if outcome.httpStatus != nil { duration.record(duration: outcome.latency) }
    }

    private static func counter(_ provider: String, outcome: String, reason: String) -> Counter {
        let dimensions = [("provider", provider), ("outcome", outcome), ("reason", reason)]
        return Counter(label: "pushwatch_provider_requests_total", dimensions: dimensions)
    }
}
