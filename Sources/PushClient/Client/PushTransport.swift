/// One call of Pushwatch's API.
public struct PushRequest: Sendable, Hashable {
    /// Who makes it.
    public enum Credential: Sendable, Hashable {
        /// The app's session of this user.
        case session(uid: String)
        /// A device's unregister secret.
        case secret(String)
    }

    /// The HTTP method.
    public var method: String
    /// From the root, without a host.
    public var path: String
    /// JSON; nil for calls without a body. May hold a token: not to be logged.
    public var body: [UInt8]?
    /// Who makes the call.
    public var credential: Credential
    /// For `X-Request-Id`: the same for all tries of one operation, so that the server counts it once.
    public var requestId: String

    /// Describes one.
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
    /// The body, as it came.
    public var body: [UInt8]
    /// `Retry-After` in seconds.
    public var retryAfter: Int?

    /// Describes one.
    public init(status: Int, body: [UInt8] = [], retryAfter: Int? = nil) {
        self.status = status
        self.body = body
        self.retryAfter = retryAfter
    }
}

/// Carries calls to the server.
public protocol PushTransport: Sendable {
    /// The answer; nil when there was none (offline, timeout).
    func send(_ request: PushRequest) async -> PushResponse?
}
