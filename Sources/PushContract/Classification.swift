/// When a failed try may be repeated.
public enum RetryClass: String, Sendable, Hashable, Codable {
    /// At once, on another connection, once.
    case now
    /// After a growing, jittered wait.
    case backoff
    /// Not before the configuration is mended; the message is not at fault.
    case afterFix
    /// Never.
    case never
}

/// What a failure says about the token it was sent to.
public enum TokenAction: String, Sendable, Hashable, Codable {
    /// The token is dead: deactivate it, unless it was registered again since.
    case deactivate
    /// Possibly dead: quarantine, and off only with further evidence.
    case suspect
    /// Nothing.
    case none
}

/// What one provider answer means: bucket, retry class and token action.
public struct Classification: Sendable, Hashable {
    /// The bucket.
    public var reasonCode: ReasonCode
    /// When the try may be repeated.
    public var retryClass: RetryClass
    /// What it says about the token.
    public var tokenAction: TokenAction

    /// Makes a classification.
    public init(_ reasonCode: ReasonCode, retry: RetryClass, token: TokenAction = .none) {
        self.reasonCode = reasonCode
        self.retryClass = retry
        self.tokenAction = token
    }
}
