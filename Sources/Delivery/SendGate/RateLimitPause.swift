package import PushContract

/// A wish of a provider for fewer requests: nothing more is claimed for the app until it is over, and little at first after it.
package struct RateLimitPause: Sendable, Hashable {
    package var provider: Provider
    @ExactText package var app: String
    /// The provider's code.
    package var cause: String
    package var since: Timestamp
    package var until: Timestamp
    /// What the provider asked for, where it is later: shown, not obeyed.
    package var requestedUntil: Timestamp?
    /// How many in a row; 1 = the first.
    package var number: Int

    package init(
        provider: Provider,
        app: String,
        cause: String,
        since: Timestamp,
        until: Timestamp,
        requestedUntil: Timestamp? = nil,
        number: Int
    ) {
        self.provider = provider
        self.app = app
        self.cause = cause
        self.since = since
        self.until = until
        self.requestedUntil = requestedUntil.flatMap { $0 > until ? $0 : nil }
        self.number = number
    }

    package func applies(to queue: SendQueue) -> Bool { queue.provider == provider && queue.$app == $app }
}

/// What one throttled try asks for.
package struct RateLimitRequest: Sendable, Hashable {
    package var provider: Provider
    @ExactText package var app: String
    package var cause: String
    /// What the provider says; nil when it only refuses.
    package var retryAfter: Duration?

    package init(provider: Provider, app: String, cause: String, retryAfter: Duration?) {
        self.provider = provider
        self.app = app
        self.cause = cause
        self.retryAfter = retryAfter
    }
}
