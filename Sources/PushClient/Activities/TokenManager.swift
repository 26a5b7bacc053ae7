public import PushContract

/// Start and update tokens, and which of them the server has. A value: queues only what the server does not have.
public struct TokenManager: Codable, Sendable, Hashable {
    /// What to queue.
    public struct Submission: Sendable, Hashable {
        /// The operation.
        public var kind: OperationKind
        /// The hash of the token.
        public var tokenHash: TokenHash
    }

    /// The first iOS version with push-to-start tokens.
    public static let firstSystemWithStartTokens = (major: 17, minor: 2)

    private var startToken: TokenHash?
    /// By the name of the attributes type; absent in the state of older versions.
    private var typedStartTokens: [String: TokenHash]?
    private var startTokenUser: String?
    /// By the subject's name.
    private var updateTokens: [String: TokenHash] = [:]

    /// The state of a new installation.
    public init() {}

    /// The start token, from the stream or the property: sent if activities are enabled and the server has another one.
    ///
    /// Do not call it because a stream has not yielded yet: an absent token is not a cleared one.
    ///
    /// - Parameter attributesType: The type that the token is for; nil: every type without its own token.
    public func startToken(_ hash: TokenHash, attributesType: String? = nil, uid: String?, isAllowed: Bool) -> Submission? {
        let known = attributesType.map { typedStartTokens?[$0] } ?? startToken
        guard isAllowed, let uid, known != hash || startTokenUser != uid else { return nil }
        return Submission(kind: .startToken(attributesType: attributesType), tokenHash: hash)
    }

    /// An activity's update token: sent unless the server has it.
    public func updateToken(_ hash: TokenHash, of subject: ActivitySubject, instance: Int?) -> Submission? {
        guard updateTokens[subject.name] != hash else { return nil }
        return Submission(kind: .activityToken(subject, instance: instance), tokenHash: hash)
    }

    /// The server has it.
    public mutating func confirmed(_ operation: PendingOperation) {
        switch operation.kind {
        case .startToken(let attributesType):
            if startTokenUser != operation.uid { (startToken, typedStartTokens) = (nil, nil) }
            startTokenUser = operation.uid
            if let attributesType {
                typedStartTokens = (typedStartTokens ?? [:]).merging([attributesType: operation.tokenHash].compactMapValues(\.self)) { $1 }
            } else {
                startToken = operation.tokenHash
            }
        case .activityToken(let subject, _): updateTokens[subject.name] = operation.tokenHash
        // The server deletes start tokens with their device.
        case .unregister: (startToken, typedStartTokens) = (nil, nil)
        default: break
        }
    }

    /// The start tokens that the server has: if one differs from ours or is missing, ours is sent again at the next check.
    public mutating func updateFromServer(startToken hash: TokenHash?, ofTypes typed: [String: TokenHash] = [:]) {
        if hash != startToken { startToken = nil }
        typedStartTokens = typedStartTokens?.filter { typed[$0.key] == $0.value }
    }

    /// The activity has ended; its token is no longer used.
    public mutating func forget(_ subject: ActivitySubject) { updateTokens[subject.name] = nil }

    /// Sign-out.
    public mutating func clear() { self = TokenManager() }
}
