import Delivery
import PushContract

/// The throttles of non-critical sends, as they suppress updates: what can wait takes from the same allowance as other non-critical sends.
///
/// Exempt are updates that report an event of priority 1 to 11, or that their caller called critical. Starts and ends are deliveries of the
/// send queue and are throttled there.
struct LiveThrottles: Sendable {
    /// A throttled update looks again after this.
    static let retryInterval = Duration.seconds(1)

    private(set) var current: [SendThrottle] = []
    /// What may still go, by the throttle's subject.
    private var allowance: [String: Int] = [:]

    mutating func replace(_ throttles: [SendThrottle]) {
        current = throttles.filter { $0.provider == .apns }
        let subjects = Set(current.map(\.subject))
        allowance = allowance.filter { subjects.contains($0.key) }
    }

    mutating func allow(_ count: Int, by throttle: SendThrottle) { allowance[throttle.subject, default: 0] += count }

    /// What was allowed and not used.
    mutating func takeBack(from throttle: SendThrottle) -> Int { allowance.removeValue(forKey: throttle.subject) ?? 0 }

    /// Whether an update of this kind may go now; what may is counted.
    mutating func admits(_ event: KeyEventClass, app: String, now: Timestamp) -> Bool {
        guard event < .prompt, let throttle = throttle(of: app, now: now) else { return true }
        guard let left = allowance[throttle.subject], left > 0 else { return false }
        allowance[throttle.subject] = left - 1
        return true
    }

    /// The one of the app, else the provider's.
    private func throttle(of app: String, now: Timestamp) -> SendThrottle? {
        let inForce = current.filter { $0.expiresAt > now && $0.concerns(app) }
        return inForce.first { $0.app != nil } ?? inForce.first
    }
}
