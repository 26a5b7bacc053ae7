import CoreMetrics
import Metrics
import PushContract

/// The numbers of Live Activities. Labels are closed sets.
enum LiveMetrics {
    static let built = Counter(label: "pushwatch_live_states_built_total")
    static let startsSent = Counter(label: "pushwatch_live_starts_sent_total")
    static let created = Counter(label: "pushwatch_live_activities_created_total")
    static let takeovers = Counter(label: "pushwatch_live_takeovers_total")
    static let lostOutcomes = Counter(label: "pushwatch_live_outcomes_lost_total")
    /// Pushes whose process died before it could write what came of them.
    static let unknownOutcomes = Counter(label: "pushwatch_live_outcomes_unknown_total")
    static let unsendable = Counter(label: "pushwatch_live_states_unsendable_total")
    /// From the building of a state to the start of the request that carries it.
    static let stateAge = Metrics.Timer(label: "pushwatch_live_state_age_seconds")
    private static let waiting = Gauge(label: "pushwatch_live_slots_waiting")
    private static let inFlight = Gauge(label: "pushwatch_live_slots_in_flight")
    private static let backingOff = Gauge(label: "pushwatch_live_slots_backing_off")
    /// Live subjects that this instance leases and whose source is silent: of a match for five minutes, of others for `freshFor`.
    static let silentFeeds = Gauge(label: "pushwatch_live_feeds_silent")
    /// Activities that lack the newest state, because their update tokens cannot be decrypted by this instance.
    static let unreadableTokens = Gauge(label: "pushwatch_live_update_tokens_unreadable")
    private static let leased = Gauge(label: "pushwatch_live_subjects_leased")

    static func started(_ record: StartDecision.Record) {
        Counter(label: "pushwatch_live_starts_results_total", dimensions: [("outcome", record.rawValue)]).increment()
    }

    /// What is attempted.
    enum Event: String, Sendable {
        case start, update, end, broadcast
    }

    static func pushed(_ event: Event, _ outcome: AttemptStatus) {
        Counter(label: "pushwatch_live_pushes_total", dimensions: [("event", event.rawValue), ("outcome", outcome.rawValue)]).increment()
    }

    /// What became of alerts, counted once for each device, or channel, they were due to.
    static func alerted(_ results: [AlertResult]) {
        for result in results {
            Counter(label: "pushwatch_live_alerts_total", dimensions: [("result", result.outcome.rawValue)]).increment()
        }
    }

    /// Requests about channels: operation is create, delete or list.
    static func asked(_ operation: String, _ outcome: String) {
        Counter(label: "pushwatch_live_channel_requests_total", dimensions: [("operation", operation), ("outcome", outcome)]).increment()
    }

    static func gauge(waiting count: Int, inFlight: Int, backingOff: Int, leased: Int) {
        waiting.record(count)
        self.inFlight.record(inFlight)
        self.backingOff.record(backingOff)
        self.leased.record(leased)
    }

    /// At the provider, of each app and environment.
    static func gauge(channels scopes: [ChannelOverview.Scope]) {
        for scope in scopes {
            let labels = [("app", scope.app), ("environment", scope.environment)]
            if let count = scope.count { Gauge(label: "pushwatch_live_channels", dimensions: labels).record(count) }
            if let unknown = scope.unknown { Gauge(label: "pushwatch_live_channels_unknown", dimensions: labels).record(unknown) }
        }
    }

    static func gauge(adopted: Int, unanswered: Int, medianTimeToToken: Double?) {
        Gauge(label: "pushwatch_live_starts_adopted_hour").record(adopted)
        Gauge(label: "pushwatch_live_starts_without_token_hour").record(unanswered)
        if let medianTimeToToken { Gauge(label: "pushwatch_live_time_to_token_seconds").record(medianTimeToToken) }
    }
}
