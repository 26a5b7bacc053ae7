import Devices
package import PushContract

/// What is written about one push, in one transaction with its attempt.
package struct LiveOutcome: Sendable {
    package enum Effect: Sendable {
        /// An update, or nothing at all for a push that failed without consequence.
        case updated(timestamp: Int64, stateHash: String)
        /// The update token is dead, since `goneAt` if the provider says so.
        case tokenOff(goneAt: Timestamp?)
        case tokenSuspect
        case started(StartClaim, StartDecision, stateTimestamp: Int64, stateHash: String)
        /// The end was answered for good (nil), or is tried again.
        case ended(retryAt: Timestamp?)
        case nothing
    }

    package var key: ActivityKey
    package var tokenHash: TokenHash
    package var attempt: Attempt
    package var effect: Effect
    package var at: Timestamp

    package init(key: ActivityKey, tokenHash: TokenHash, attempt: Attempt, effect: Effect, at: Timestamp) {
        self.key = key
        self.tokenHash = tokenHash
        self.attempt = attempt
        self.effect = effect
        self.at = at
    }
}
