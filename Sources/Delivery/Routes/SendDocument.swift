import PushContract

/// A send as its caller sees it; never a token or a payload.
struct SendDocument: Encodable, Sendable {
    struct Delivery: Encodable, Sendable {
        var uid: String
        var deviceId: String?
        var platform: Platform
        var provider: Provider
        var environment: PushEnvironment
        var app: String
        var state: DeliveryState
        var attempts: Int
        var reasonCode: ReasonCode?
        var providerErrorCode: String?
        var providerMessageId: String?
        var nextAttemptAt: Timestamp?
        var finishedAt: Timestamp?
    }

    var sendId: String
    var state: SendState
    var `class`: DeliveryClass
    var policy: DeliveryPolicy
    var requestId: String
    var author: String
    var createdAt: Timestamp
    var notBefore: Timestamp?
    var expiresAt: Timestamp
    var cancelledAt: Timestamp?
    /// The targets that it does not go to; nil where there are none.
    var skipped: [SkippedTargets]?
    /// How many deliveries there are in each state.
    var counts: [String: Int]
    /// How many attempts there are of all deliveries.
    var attemptCount: Int
    /// A page of them.
    var deliveries: [Delivery]
    /// Those of the people on the page.
    var attempts: [Attempt]
    var attemptsTruncated: Bool
    /// Where the next page begins; nil on the last one.
    var next: String?

    init(_ send: StoredSend) {
        sendId = send.sendId
        state = send.state
        `class` = send.deliveryClass
        policy = send.policy
        requestId = send.requestId
        author = send.author
        createdAt = send.createdAt
        notBefore = send.notBefore
        expiresAt = send.expiresAt
        cancelledAt = send.cancelledAt
        skipped = send.skipped.isEmpty ? nil : send.skipped
        counts = Dictionary(uniqueKeysWithValues: send.counts.map { ($0.key.rawValue, $0.value) })
        deliveries = send.deliveries.map(Delivery.init)
        attemptCount = send.attemptCount
        attempts = send.attempts
        attemptsTruncated = send.areAttemptsTruncated
        next = send.next.map(String.init)
    }
}

extension SendDocument.Delivery {
    init(_ delivery: StoredSend.Delivery) {
        self.init(
            uid: delivery.uid,
            deviceId: delivery.deviceId,
            platform: delivery.platform,
            provider: delivery.provider,
            environment: delivery.environment,
            app: delivery.app,
            state: delivery.state,
            attempts: delivery.attempts,
            reasonCode: delivery.reasonCode,
            providerErrorCode: delivery.providerErrorCode,
            providerMessageId: delivery.providerMessageId,
            nextAttemptAt: delivery.nextAttemptAt,
            finishedAt: delivery.finishedAt
        )
    }
}
