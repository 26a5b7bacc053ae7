import Delivery
import Providers
import PushContract

/// What follows from the outcome of a start in the send queue.
struct StartDecision: Sendable, Hashable {
    enum Record: String, Sendable, Hashable {
        case accepted, rejected, unknown
        /// It ended without an attempt.
        case notSent
    }

    /// When the next start of the activity is due.
    enum Next: String, Sendable, Hashable {
        /// If no token has come by then, and not too many starts may have reached the device.
        case afterGrace
        /// As soon as there is a token to send it to, while the subject is live.
        case now
        /// Not in this instance.
        case never
    }

    /// What counts in the device's budget: neither a rejected start nor one that was not sent used it.
    var record: Record
    var next: Next

    /// Nil while it is still in the queue.
    ///
    /// - Parameter attempt: what the attempt came to; nil: there was none.
    static func after(_ attempt: PushOutcome?, _ next: DeliveryNext) -> StartDecision? {
        switch next {
        case .retry, .blocked: return nil
        case .sent: return StartDecision(record: .accepted, next: .afterGrace)
        case .cancelled, .superseded: return StartDecision(record: .notSent, next: .now)
        case .dead(let outcome, _, _):
            let again: Next = outcome == .expired ? .now : .never
            guard let attempt else { return StartDecision(record: .notSent, next: again) }
            // A second card is worse than a late one.
            if attempt.outcomeUnknown { return StartDecision(record: .unknown, next: .afterGrace) }
            // The start token is dead: the activity stays pending until the app brings a new one.
            return StartDecision(record: .rejected, next: attempt.tokenAction == .none ? again : .now)
        }
    }
}
