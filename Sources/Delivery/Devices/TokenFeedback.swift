package import PushContract

/// What a send's outcome says about the token it went to.
package struct TokenFeedback: Sendable, Hashable {
    package enum Verdict: Sendable, Hashable {
        /// Dead. `goneAt` is since when, if the provider says so (APNs' 410).
        case deactivate(goneAt: Timestamp?)
        /// Refused for a reason that may be the configuration's fault.
        case suspect
        /// Accepted: whatever was suspected is refuted.
        case valid
    }

    package var verdict: Verdict
    package var tokenHash: TokenHash
    package var provider: Provider
    package var app: String
    /// The provider's code; kept with the state.
    package var cause: String
    /// The registration that was current when the send started; nil for a send to a bare token.
    package var registrationVersion: Int64?
    /// When the send started; the guard where there is no version.
    package var sentAt: Timestamp
    /// Where the token is used, for the limiter; nil where that is not known, and then no limiter looks at it.
    package var environment: PushEnvironment?
    package var credential: String?
    /// The try it comes from.
    package var attemptId: String?
    /// Which token of the device, or of an activity on it.
    package var token: TokenKind

    package init(
        verdict: Verdict,
        tokenHash: TokenHash,
        provider: Provider,
        app: String,
        cause: String,
        registrationVersion: Int64?,
        sentAt: Timestamp,
        environment: PushEnvironment? = nil,
        credential: String? = nil,
        attemptId: String? = nil,
        token: TokenKind = .push
    ) {
        self.verdict = verdict
        self.tokenHash = tokenHash
        self.provider = provider
        self.app = app
        self.cause = cause
        self.registrationVersion = registrationVersion
        self.sentAt = sentAt
        self.environment = environment
        self.credential = credential
        self.attemptId = attemptId
        self.token = token
    }
}
