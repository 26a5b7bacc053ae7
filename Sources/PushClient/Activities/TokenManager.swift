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
    /// By the name of the attributes type; absent in what older versions stored.
    private var typedStartTokens: [String: TokenHash]?
    private var startTokenUser: String?
    private var updateTokens: [String: TokenHash] = [:]

    /// A new installation.
    public init() {}

    /// The start token, from the stream or the property: to be sent if activities are enabled and the server has another one.
    ///
    /// A stream that has yielded nothing yet is no reason to call: absent is not the same as cleared.
    ///
    /// - Parameter attributesType: whose token it is; nil: of every type that has none of its own.
    public func startToken(_ hash: TokenHash, attributesType: String? = nil, uid: String?, isAllowed: Bool) -> Submission? {
        let known = attributesType.map { typedStartTokens?[$0] } ?? startToken
        guard isAllowed, let uid, known != hash || startTokenUser != uid else { return nil }
        return Submission(kind: .startToken(attributesType: attributesType), tokenHash: hash)
    }

    /// An activity's update token: to be sent unless it is the one the server has.
    public func updateToken(_ hash: TokenHash, matchId: String, instance: Int?) -> Submission? {
        guard updateTokens[matchId] != hash else { return nil }
        return Submission(kind: .activityToken(matchId: matchId, instance: instance), tokenHash: hash)
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
        case .activityToken(let matchId, _): updateTokens[matchId] = operation.tokenHash
        default: break
        }
    }

    /// The start tokens that the server has and uses: where it is another than ours, or none, the next look sends ours again.
    public mutating func updateFromServer(startToken hash: TokenHash?, ofTypes typed: [String: TokenHash] = [:]) {
        if hash != startToken { startToken = nil }
        typedStartTokens = typedStartTokens?.filter { typed[$0.key] == $0.value }
    }

    /// The activity is over; its token is worth nothing.
    public mutating func forget(matchId: String) { updateTokens[matchId] = nil }

    /// Sign-out.
    public mutating func clear() { self = TokenManager() }
}
