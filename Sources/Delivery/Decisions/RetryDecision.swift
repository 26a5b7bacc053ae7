package import PushContract
import ServiceKit

/// What becomes of a delivery after a failed try.
package enum RetryDecision: Sendable, Hashable {
    /// Try again at this moment.
    case retry(at: Timestamp)
    /// It would be tried again, and by then it has expired.
    case expired
    /// It will not be tried again.
    case giveUp(ReasonCode)

    /// A failed try.
    package struct Failure: Sendable, Hashable {
        package var classification: Classification
        package var provider: Provider
        /// 1 = the first.
        package var attemptNumber: Int
        /// Too many requests (429): waits longer than another refusal.
        package var isThrottled: Bool
        /// What the provider asks for; obeyed up to `RetryDelays.retryAfterCap`.
        package var retryAfter: Duration?
        /// The request was written and never answered: the push may have been delivered.
        package var isOutcomeUnknown: Bool

        package init(
            classification: Classification,
            provider: Provider,
            attemptNumber: Int,
            isThrottled: Bool = false,
            retryAfter: Duration? = nil,
            isOutcomeUnknown: Bool = false
        ) {
            self.classification = classification
            self.provider = provider
            self.attemptNumber = attemptNumber
            self.isThrottled = isThrottled
            self.retryAfter = retryAfter
            self.isOutcomeUnknown = isOutcomeUnknown
        }
    }

    /// - Parameter random: in 0...1; 1 gives the longest wait.
    package static func after(
        _ failure: Failure,
        policy: DeliveryPolicy,
        now: Timestamp,
        expiresAt: Timestamp,
        delays: RetryDelays,
        random: Double
    ) -> RetryDecision {
        if failure.isOutcomeUnknown && policy == .atMostOnce { return .giveUp(failure.classification.reasonCode) }
        guard let wait = wait(failure, delays: delays, random: random) else { return .giveUp(failure.classification.reasonCode) }
        let at = now + max(wait, min(failure.retryAfter ?? .zero, delays.retryAfterCap))
        return at >= expiresAt ? .expired : .retry(at: at)
    }

    private static func wait(_ failure: Failure, delays: RetryDelays, random: Double) -> Duration? {
        switch failure.classification.retryClass {
        case .never: nil
        // Once at once, on another connection; if that does not help it is not the connection.
        case .now where failure.attemptNumber == 1: .zero
        case .now, .backoff: curve(failure, delays).wait(failures: failure.attemptNumber, random: random)
        case .afterFix: delays.afterFix.wait(failures: failure.attemptNumber, random: random)
        }
    }

    private static func curve(_ failure: Failure, _ delays: RetryDelays) -> Backoff {
        if failure.isThrottled { return delays.throttled }
        switch (failure.classification.reasonCode, failure.provider) {
        // FCM wants its 10 s also when it did not answer: it may be busy with the first request.
        case (.network, .fcm) where failure.isOutcomeUnknown: return delays.fcm
        case (.network, _): return delays.network
        case (_, .apns): return delays.apns
        // Also for a provider that has no curve of its own: it is the slower one.
        default: return delays.fcm
        }
    }
}
