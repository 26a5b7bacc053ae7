import Delivery
import PushContract

extension ActivityKey {
    /// A delivery of the send queue for this activity.
    ///
    /// - Parameter token: the hash of the token it is stored for.
    func queued(
        _ kind: String,
        app: String,
        environment: PushEnvironment,
        deliveryClass: DeliveryClass,
        token: String,
        attemptNumber: Int = 1,
        expiresAt: Timestamp
    ) -> NewQueuedDelivery {
        NewQueuedDelivery(
            kind: kind,
            ownerKey: "\(instance):\(subject)",
            uid: userId,
            deviceId: deviceId,
            platform: .ios,
            provider: .apns,
            environment: environment,
            app: app,
            deliveryClass: deliveryClass,
            tokenHash: token,
            attemptNumber: attemptNumber,
            expiresAt: expiresAt
        )
    }

    /// One alert of this activity's subject that it was not sent.
    ///
    /// - Parameter token: the hash of the token of the push that was to show it.
    func alert(_ alert: SubjectAlert, app: String, environment: PushEnvironment, token: String) -> NewQueuedDelivery {
        queued(
            AlertResult.kind,
            app: app,
            environment: environment,
            deliveryClass: .high,
            token: token,
            expiresAt: alert.builtAt + SubjectAlert.freshness
        )
    }

    /// The activity that a delivery of the queue is for.
    init(_ delivery: QueuedDelivery) {
        let parts = delivery.ownerKey.split(separator: ":", maxSplits: 1)
        self.init(
            subject: parts.last.map(String.init) ?? "",
            userId: delivery.uid,
            deviceId: delivery.deviceId,
            instance: parts.first.flatMap { Int($0) } ?? 0
        )
    }

    /// An attempt of a delivery of the queue: `start` or `end`.
    func attempt(_ operation: String, of delivery: QueuedDelivery) -> AttemptIdentity {
        attempt(
            operation,
            tokenHash: delivery.tokenHash,
            app: delivery.app,
            environment: delivery.environment,
            attemptNumber: delivery.attemptNumber,
            requestId: "live-\(operation):\(subject)"
        )
    }
}
