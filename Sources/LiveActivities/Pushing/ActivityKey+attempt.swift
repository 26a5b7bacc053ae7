import Delivery
import PushContract

extension ActivityKey {
    /// Names an operation on this activity.
    func operationKey(_ operation: String) -> String { "live:\(subject):\(userId):\(deviceId):\(instance):\(operation)" }

    /// One attempt of an operation: `start`, `end`, or which state at which epoch.
    func attempt(
        _ operation: String,
        tokenHash: TokenHash,
        app: String,
        environment: PushEnvironment,
        attemptNumber: Int,
        requestId: String
    ) -> AttemptIdentity {
        var identity = AttemptIdentity(
            uid: userId,
            platform: .ios,
            provider: .apns,
            environment: environment,
            app: app,
            tokenHash: tokenHash,
            operationKey: operationKey(operation),
            attemptNumber: attemptNumber,
            requestId: requestId
        )
        identity.pushType = "liveactivity"
        return identity
    }
}
