package import Delivery
package import PushContract

/// What is written about one push, in one transaction with its attempt.
package struct LiveOutcome: Sendable {
    package enum Effect: Sendable {
        /// An update, or nothing at all for a push that failed without consequence.
        ///
        /// - Parameter budgetFullAt: the device's bucket for boundaries after one was taken from it; nil: none was.
        case updated(timestamp: Int64, stateHash: String, budgetFullAt: Timestamp?)
        /// The update token is dead, since `goneAt` if the provider says so.
        case tokenDeactivated(goneAt: Timestamp?)
        case tokenSuspect
        /// - Parameter channelId: what the activity listens to instead of bringing a token.
        case started(StartClaim, StartDecision, stateTimestamp: Int64, stateHash: String, channelId: String?)
        /// The end was answered for good (nil), or is tried again.
        case ended(retryAt: Timestamp?)
        /// About a broadcast channel.
        case channel(ChannelEffect)
        case nothing

        var isNothing: Bool { if case .nothing = self { true } else { false } }
    }

    package var key: ActivityKey
    package var tokenHash: TokenHash
    /// Nil when nothing left: the push was kept back.
    package var attempt: Attempt?
    /// The group of intents the push was kept in before it left.
    package var intent: Int64?
    package var effect: Effect
    package var at: Timestamp
    /// Where refusals of tokens are counted.
    package var credentialScope: CredentialScope?
    /// What it says about the token, and about tokens in general.
    package var verdict: TokenFeedback.Verdict?
    package var sample: RefusalSample?
    /// What it says about the credential: a refusal, and the holds it refutes.
    package var opening: CircuitOpening?
    package var circuitsClosed: [Int64] = []
    package var pause: RateLimitRequest?

    package init(key: ActivityKey, tokenHash: TokenHash, attempt: Attempt? = nil, effect: Effect, at: Timestamp) {
        self.key = key
        self.tokenHash = tokenHash
        self.attempt = attempt
        self.effect = effect
        self.at = at
    }

    /// For the guard of tokens.
    var feedback: TokenFeedback? {
        guard let verdict, let credentialScope else { return nil }
        var version: Int64?
        var sentAt = at
        if case .started(let claim, _, _, _, _) = effect {
            version = claim.startTokenVersion
            sentAt = claim.claimedAt
        }
        return TokenFeedback(
            verdict: verdict,
            tokenHash: tokenHash,
            provider: credentialScope.provider,
            app: credentialScope.app,
            cause: attempt?.providerErrorCode ?? attempt?.reasonCode?.rawValue ?? "",
            registrationVersion: version,
            sentAt: sentAt,
            environment: credentialScope.environment,
            credential: credentialScope.credential,
            attemptId: attempt?.attemptId
        )
    }

    var isStart: Bool { if case .started = effect { true } else { false } }
}
