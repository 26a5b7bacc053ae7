package import Providers
package import PushContract

/// One attempt of a push, as the pipeline makes it.
package struct Push: Sendable {
    /// What is sent, and where.
    package enum Content: Sendable {
        case message(PushMessage, to: PushToken)
        case broadcast(LiveActivityPush, to: BroadcastChannel)
    }

    /// How the attempt gets its row if this process ends before the outcome is written.
    package enum Protection: Sendable {
        /// A lease or a claim in the database expires.
        case claim
        /// An intent is recorded before the push is sent. Once it is recorded, `isCurrent` says whether the push is still to be sent.
        case intent(isCurrent: @Sendable () -> Bool)
    }

    /// The token it is sent to, for what the outcome says about it.
    package struct Token: Sendable {
        package var kind: TokenKind
        /// The registration it comes from; nil if there is none.
        package var registrationVersion: Int64?
        /// When the token was read, where there is no version; nil: when the attempt started.
        package var readAt: Timestamp?
        /// Whether an accepted push changes the token's state.
        package var countsAcceptance: Bool

        package init(_ kind: TokenKind, registrationVersion: Int64? = nil, readAt: Timestamp? = nil, countsAcceptance: Bool) {
            self.kind = kind
            self.registrationVersion = registrationVersion
            self.readAt = readAt
            self.countsAcceptance = countsAcceptance
        }
    }

    package var identity: AttemptIdentity
    /// What the provider knows the push by: the same for each repetition that must not be shown twice.
    package var messageId: String
    package var protection: Protection
    /// Nil for a broadcast: its outcome says nothing about a token.
    package var token: Token?
    /// Its topic is not the one of the app's other pushes.
    package var hasOwnTopic: Bool
    /// The time the row is recorded with; nil: the pipeline's.
    package var clock: (@Sendable () -> Timestamp)?
    /// Called when the push is attempted.
    package var content: @Sendable (_ now: Timestamp) throws(PushError) -> Content

    package init(
        _ identity: AttemptIdentity,
        messageId: String,
        protection: Protection,
        token: Token?,
        hasOwnTopic: Bool = false,
        clock: (@Sendable () -> Timestamp)? = nil,
        content: @escaping @Sendable (_ now: Timestamp) throws(PushError) -> Content
    ) {
        self.identity = identity
        self.messageId = messageId
        self.protection = protection
        self.token = token
        self.hasOwnTopic = hasOwnTopic
        self.clock = clock
        self.content = content
    }

    /// Feedback about its token; nil for a broadcast.
    func feedback(_ verdict: TokenFeedback.Verdict, cause: String, in scope: CredentialScope, startedAt: Timestamp) -> TokenFeedback? {
        token.map { token in
            TokenFeedback(
                verdict: verdict,
                tokenHash: identity.tokenHash,
                provider: identity.provider,
                app: identity.app,
                cause: cause,
                registrationVersion: token.registrationVersion,
                sentAt: token.readAt ?? startedAt,
                environment: scope.environment,
                credential: scope.credential,
                attemptId: identity.attemptId,
                token: token.kind
            )
        }
    }
}

/// What became of a push in the pipeline. By reference: it is handed on until it is written.
package indirect enum PushResult: Sendable {
    /// It was attempted: this is the provider's answer.
    case attempted(PushOutcome)
    /// Nothing was sent.
    case blocked(SendGate.Obstacle)
}

extension TokenKind {
    /// The name under which refusals are counted. Update tokens and start tokens have a count of their own: many updates that arrive must
    /// not hide that no start does.
    func limiterCredential(_ credential: String) -> String {
        switch self {
        case .push, .delivery: credential
        case .pushToStart: "\(credential) (start tokens)"
        case .update: "\(credential) (update tokens)"
        }
    }
}
