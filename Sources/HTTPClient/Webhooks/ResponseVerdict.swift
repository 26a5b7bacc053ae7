package import PushContract
import ServiceKit

/// What an answer means for a message.
package enum ResponseVerdict: Sendable, Hashable {
    case delivered
    /// Try again; not before the wait the receiver asked for, if it did.
    case retry(after: Duration?)
    /// Refused for good: a retry cannot succeed until the configuration changes.
    case deadLettered

    /// Longer waits are cut: a receiver that asks for a day would hide an alert for a day.
    private static let longestWait = Duration.seconds(3600)

    /// By status: 2xx is delivered; 408, 425, 429 and 5xx are worth another try; anything else is refused.
    package init(status: Int, retryAfter: String?, now: Timestamp) {
        switch status {
        case 200..<300: self = .delivered
        case 408, 425, 429, 500..<600:
            self = .retry(after: retryAfter.flatMap { RetryAfter.wait($0, now: now, longest: ResponseVerdict.longestWait) })
        default: self = .deadLettered
        }
    }
}
