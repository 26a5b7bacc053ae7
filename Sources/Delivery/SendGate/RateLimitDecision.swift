package import Providers
package import PushContract
import ServiceKit

/// How long a queue waits after its provider asked for fewer requests, and how it begins again.
package enum RateLimitDecision {
    /// What a refusal asks for; nil when it says nothing about other pushes of the app. A `Retry-After` without 429 is of that push alone:
    /// its retry waits for so long. So is a 429 of Apple's sandbox, which has limits of its own: queues of production go on.
    package static func request(_ scope: PushScope, after outcome: PushOutcome) -> RateLimitRequest? {
        guard outcome.isThrottled, outcome.refusalScope != .message else { return nil }
        if scope.provider == .apns, scope.environment == .sandbox { return nil }
        return RateLimitRequest(
            provider: scope.provider,
            app: scope.app,
            cause: outcome.providerErrorCode ?? outcome.reasonCode?.rawValue ?? "",
            retryAfter: outcome.retryAfter
        )
    }

    /// The pause after one more refusal.
    ///
    /// Those that were under way when it began only make it longer if the provider says so. One that comes soon after the last doubles
    /// the wait. `Retry-After` is obeyed up to `RetryDelays.retryAfterCap`, and the provider's minimum is kept where it says nothing.
    package static func next(
        _ request: RateLimitRequest,
        after current: RateLimitPause?,
        delays: RetryDelays,
        now: Timestamp
    ) -> RateLimitPause {
        if let current, current.until > now {
            var pause = current
            guard let asked = request.retryAfter else { return pause }
            pause.until = max(pause.until, now + min(asked, delays.retryAfterCap))
            pause.requestedUntil = max(pause.requestedUntil ?? pause.until, now + asked)
            return pause
        }
        let isInARow = current.map { now - $0.until < delays.pause.cap } ?? false
        let number = isInARow ? min((current?.number ?? 0) + 1, 30) : 1
        let asked = request.retryAfter.map { min($0, delays.retryAfterCap) } ?? .zero
        let wait = max(delays.pause.ceiling(failures: number), max(delays.pause.minimum, asked))
        return RateLimitPause(
            provider: request.provider,
            app: request.app,
            cause: request.cause,
            since: now,
            until: now + wait,
            requestedUntil: request.retryAfter.map { now + $0 },
            number: number
        )
    }

    /// How many of a queue may be under way: none while it is paused, then more and more until `ramp` after it.
    package static func slots(_ pause: RateLimitPause?, capacity: Int, ramp: Duration, now: Timestamp) -> Int {
        guard let pause else { return capacity }
        guard pause.until <= now else { return 0 }
        let since = now - pause.until
        guard since < ramp else { return capacity }
        return max(1, Int(Double(capacity) * (since.inSeconds / ramp.inSeconds)))
    }
}
