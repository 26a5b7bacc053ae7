/// One request to Pushwatch's API.
public struct PushRequest: Sendable, Hashable {
    /// The credential of the request.
    public enum Credential: Sendable, Hashable {
        /// The app's session for this user.
        case session(uid: String)
        /// A device's unregister secret.
        case secret(String)
    }

    /// The HTTP method.
    public var method: String
    /// From the root, without a host.
    public var path: String
    /// JSON; nil for requests without a body. May contain a token: do not log it.
    public var body: [UInt8]?
    /// The credential to send.
    public var credential: Credential
    /// For `X-Request-Id`: the same for all attempts of one operation, so that the server counts it once.
    public var requestId: String

    /// Creates it from its parts.
    public init(method: String, path: String, body: [UInt8]?, credential: Credential, requestId: String) {
        self.method = method
        self.path = path
        self.body = body
        self.credential = credential
        self.requestId = requestId
    }
}

/// The server's answer.
public struct PushResponse: Sendable, Hashable {
    /// The HTTP status.
    public var status: Int
    /// The body as received.
    public var body: [UInt8]
    /// `Retry-After` in seconds.
    public var retryAfter: Int?

    /// Creates it from its parts.
    public init(status: Int, body: [UInt8] = [], retryAfter: Int? = nil) {
        self.status = status
        self.body = body
        self.retryAfter = retryAfter
    }
}

/// Sends requests to the server.
public protocol PushTransport: Sendable {
    /// The answer; nil if there was none (offline, timeout).
    func send(_ request: PushRequest) async -> PushResponse?
}
