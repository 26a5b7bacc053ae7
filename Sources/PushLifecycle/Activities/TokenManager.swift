public import PushContract

/// Start and update tokens: which have reached the server. A value; what is new is queued, what is not is left alone.
public struct TokenManager: Codable, Sendable, Hashable {
    /// What to queue.
    public struct Submission: Sendable, Hashable {
        /// The operation.
        public var kind: OperationKind
        /// Of which token.
        public var tokenHash: TokenHash
    }

    /// iOS below this has no push-to-start tokens.
    public static let firstSystemWithStartTokens = (major: 17, minor: 2)

    private var startToken: TokenHash?
    private var startTokenUser: String?
    private var updateTokens: [String: TokenHash] = [:]

    /// A new installation.
    public init() {}

    /// The start token, from the stream or the property: to be sent if activities are enabled and the server has another one.
    ///
    /// A stream that has yielded nothing yet is no reason to call: absent is not the same as cleared.
    public func startToken(_ hash: TokenHash, uid: String?, isAllowed: Bool) -> Submission? {
        guard isAllowed, let uid, startToken != hash || startTokenUser != uid else { return nil }
        return Submission(kind: .startToken, tokenHash: hash)
    }

    /// An activity's update token: to be sent unless it is the one the server has.
    public func updateToken(_ hash: TokenHash, matchId: String, generation: Int?) -> Submission? {
        guard updateTokens[matchId] != hash else { return nil }
        return Submission(kind: .activityToken(matchId: matchId, generation: generation), tokenHash: hash)
    }

    /// The server has it.
    public mutating func confirmed(_ operation: PendingOperation) {
        switch operation.kind {
        case .startToken:
            startToken = operation.tokenHash
            startTokenUser = operation.uid
        case .activityToken(let matchId, _): updateTokens[matchId] = operation.tokenHash
        default: break
        }
    }

    /// What the server says of its start token: if it is another, or not in use, the next look sends ours again.
    public mutating func serverHas(startToken hash: TokenHash?, isUsable: Bool) {
        if hash != startToken || !isUsable { startToken = nil }
    }

    /// The activity is over; its token is worth nothing.
    public mutating func forget(matchId: String) { updateTokens[matchId] = nil }

    /// Sign-out.
    public mutating func clear() { self = TokenManager() }
}
