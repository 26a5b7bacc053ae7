/// When a failed attempt may be retried.
public enum RetryClass: String, Sendable, Hashable, Codable {
    /// Immediately, on another connection, once.
    case now
    /// After an exponential back-off with jitter.
    case backoff
    /// After the configuration is fixed; the message is correct.
    case afterFix
    /// Never.
    case never
}

/// What a failure means for the token.
public enum TokenAction: String, Sendable, Hashable, Codable {
    /// The token is invalid: deactivate it, unless it was registered again later.
    case deactivate
    /// The token may be invalid: mark it suspect, and deactivate it only with further evidence.
    case suspect
    /// No consequence.
    case none
}

/// The meaning of a provider's answer: reason code, retry class and token action.
public struct Classification: Sendable, Hashable {
    /// The normalised reason.
    public var reasonCode: ReasonCode
    /// When the attempt may be retried.
    public var retryClass: RetryClass
    /// What it means for the token.
    public var tokenAction: TokenAction

    /// Makes a classification.
    public init(_ reasonCode: ReasonCode, retry: RetryClass, token: TokenAction = .none) {
        self.reasonCode = reasonCode
        self.retryClass = retry
        self.tokenAction = token
    }
}
