/// One try to deliver to one token: a row of `notificationDeliveryAttempts` (lifecycle contract, "Required telemetry write shape").
public struct Attempt: Sendable, Hashable {
    /// The identity: 1–200 visible ASCII characters.
    public var attemptId: String
    /// The user: 1–256 characters without control characters.
    public var uid: String
    /// The platform of the device.
    public var platform: Platform
    /// The provider that delivers the push.
    public var provider: Provider
    /// The hash of the token; never the raw token.
    public var tokenHash: TokenHash
    /// What the attempt was for.
    public var eventType: EventType
    /// The attempt's status; it only moves forward.
    public var status: AttemptStatus
    /// Required with `failed` and `deactivated`, absent otherwise.
    public var reasonCode: ReasonCode?
    /// The provider's own code, untouched; at most 200 characters.
    public var providerErrorCode: String?
    /// When the attempt was made; the first stored report determines it.
    public var attemptedAt: Timestamp
    /// 1–200 visible ASCII characters.
    public var requestId: String
    /// Bundle id or FCM app.
    public var app: String?
    /// The provider's environment that the token belongs to.
    public var environment: PushEnvironment?
    /// The kind of push, as APNs names it (`alert`, `liveactivity`, …).
    public var pushType: String?
    /// The app's version on the device.
    public var appVersion: String?
    /// The provider's id of an accepted push.
    public var providerMessageId: String?
    /// Milliseconds from the request's start to the provider's answer.
    public var latencyMs: Int32?
    /// The send that the attempt belongs to.
    public var sendId: String?

    /// Makes an attempt; nothing is checked here, `AttemptBatch` in the service and the API check.
    public init(
        attemptId: String,
        uid: String,
        platform: Platform,
        provider: Provider,
        tokenHash: TokenHash,
        eventType: EventType,
        status: AttemptStatus,
        reasonCode: ReasonCode? = nil,
        providerErrorCode: String? = nil,
        attemptedAt: Timestamp,
        requestId: String,
        app: String? = nil,
        environment: PushEnvironment? = nil,
        pushType: String? = nil,
        appVersion: String? = nil,
        providerMessageId: String? = nil,
        latencyMs: Int32? = nil,
        sendId: String? = nil
    ) {
        self.attemptId = attemptId
        self.uid = uid
        self.platform = platform
        self.provider = provider
        self.tokenHash = tokenHash
        self.eventType = eventType
        self.status = status
        self.reasonCode = reasonCode
        self.providerErrorCode = providerErrorCode
        self.attemptedAt = attemptedAt
        self.requestId = requestId
        self.app = app
        self.environment = environment
        self.pushType = pushType
        self.appVersion = appVersion
        self.providerMessageId = providerMessageId
        self.latencyMs = latencyMs
        self.sendId = sendId
    }
}

extension Attempt: Codable {}
