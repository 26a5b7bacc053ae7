package import PushContract

/// What follows from the outcome of a start.
package struct StartDecision: Sendable, Hashable {
    package enum Record: String, Sendable, Hashable {
        case accepted, rejected, unknown
    }

    /// What counts in the device's budget; a refused start did not use it.
    package var record: Record
    /// When the next start may be, if no token has come by then; nil: never in this instance.
    var nextStartAt: Timestamp?
    /// The start token is dead: the activity stays pending until the app brings a new one.
    var clearsStartToken = false

    /// What is known about a start's outcome.
    package struct Outcome: Sendable, Hashable {
        package var classification: Classification?
        package var isUnknown: Bool
        package var retryAfter: Duration?

        package init(_ classification: Classification?, isUnknown: Bool = false, retryAfter: Duration? = nil) {
            self.classification = classification
            self.isUnknown = isUnknown
            self.retryAfter = retryAfter
        }
    }

    /// - Parameters:
    ///   - attempts: starts of this instance, this one included.
    ///   - delivered: of those before this one, how many may have reached the device.
    package static func after(_ outcome: Outcome, attempts: Int, delivered: Int, policy: StartPolicy, now: Timestamp) -> StartDecision {
        guard let classification = outcome.classification, !outcome.isUnknown else {
            // Accepted; or unknown, and then the claim is kept: a second card is worse than a late one.
            let isLast = delivered + 1 >= policy.deliveredLimit
            return StartDecision(record: outcome.isUnknown ? .unknown : .accepted, nextStartAt: isLast ? nil : now + policy.grace)
        }
        if classification.tokenAction != .none { return StartDecision(record: .rejected, nextStartAt: now, clearsStartToken: true) }
        let failures = max(1, attempts - delivered)
        let wait = failures <= policy.backOff.count ? policy.backOff[failures - 1] : nil
        switch classification.retryClass {
        case .never: return StartDecision(record: .rejected)
        case .afterFix: return StartDecision(record: .rejected, nextStartAt: now + (wait ?? policy.backOff.last ?? policy.grace))
        case .now, .backoff:
            return StartDecision(record: .rejected, nextStartAt: wait.map { now + max($0, outcome.retryAfter ?? .zero) })
        }
    }
}
