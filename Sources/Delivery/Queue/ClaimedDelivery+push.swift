import Providers
import PushContract

extension ClaimedDelivery {
    var lease: DeliveryLease {
        DeliveryLease(
            deliveryId: deliveryId,
            leaseToken: leaseToken,
            leaseSize: leaseSize,
            queue: queue,
            attemptNumber: attemptNumber,
            expiresAt: expiresAt,
            probeOf: probeOf,
            isCritical: deliveryClass == .critical,
            newestKeys: newestKeys
        )
    }

    /// The attempt of this delivery.
    ///
    /// - Parameter clock: the time by the database's clock.
    func push(to token: PushToken, clock: (@Sendable () -> Timestamp)? = nil) -> Push {
        if case .push(var push, _, _) = queuedContent {
            push.clock = clock
            return push
        }
        let sendId = sendId ?? ""
        var identity = AttemptIdentity(
            uid: uid,
            platform: platform,
            provider: provider,
            environment: environment,
            app: app,
            tokenHash: token.hash,
            operationKey: ClaimedDelivery.operationKey(sendId: sendId, deviceId: deviceId, tokenHash: token.hash),
            attemptNumber: attemptNumber,
            requestId: requestId
        )
        identity.appVersion = appVersion
        identity.sendId = sendId
        return Push(
            identity,
            // The same for every attempt of one delivery: a repetition after an unknown outcome is then known as one.
            messageId: identity.operationKey,
            protection: .claim,
            // Only the state of a suspect token changes when a push is accepted.
            token: Push.Token(
                deviceId == nil ? .delivery : .push,
                registrationVersion: registrationVersion,
                countsAcceptance: tokenState == .suspect
            ),
            clock: clock
        ) { [content] _ throws(PushError) in
            guard let content else { throw PushError(field: "", code: "BadContent", "The delivery has no content.") }
            return .message(try content.message.get(), to: token)
        }
    }

    /// What follows for it, and for its owner if it has one.
    ///
    /// - Parameter attempt: what the attempt came to; nil: there was none.
    func consequence(_ next: DeliveryNext, after attempt: PushOutcome? = nil) -> QueueConsequence {
        let note: (any Sendable)? = if case .push(_, _, let note) = queuedContent { note } else { nil }
        return QueueConsequence(
            next: next,
            queued: queued.map { QueuedOutcome(delivery: $0, attempt: attempt, next: next, note: note) }
        )
    }

    /// What all attempts of one delivery have in common.
    static func operationKey(sendId: String, deviceId: String?, tokenHash: TokenHash) -> String {
        "\(sendId):\(deviceId ?? tokenHash.rawValue)"
    }
}
