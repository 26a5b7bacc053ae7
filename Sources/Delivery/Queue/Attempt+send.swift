import PushContract

/// What identifies one try of a delivery.
struct AttemptIdentity: Sendable {
    var sendId: String
    var uid: String
    var deviceId: String?
    var platform: Platform
    var provider: Provider
    var environment: PushEnvironment
    var app: String
    var tokenHash: TokenHash
    var attemptNumber: Int
    var requestId: String
    var appVersion: String?

    /// What all tries of one delivery have in common.
    var operationKey: String { "\(sendId):\(deviceId ?? tokenHash.rawValue)" }

    /// The same for every worker that makes this try, so that it can be recorded once only.
    var attemptId: String {
        let derived = AttemptID.derive(
            eventType: .send,
            uid: uid,
            platform: platform,
            provider: provider,
            tokenHash: tokenHash,
            operationKey: operationKey,
            attemptNumber: attemptNumber
        )
        // Only control characters make it nil, and those are refused where sends and devices come in.
        return derived ?? "\(sendId):\(attemptNumber)"
    }
}

extension Attempt {
    /// The telemetry of one try.
    init(_ identity: AttemptIdentity, status: AttemptStatus, attemptedAt: Timestamp) {
        self.init(
            attemptId: identity.attemptId,
            uid: identity.uid,
            platform: identity.platform,
            provider: identity.provider,
            tokenHash: identity.tokenHash,
            eventType: .send,
            status: status,
            attemptedAt: attemptedAt,
            requestId: identity.requestId,
            app: identity.app,
            environment: identity.environment,
            appVersion: identity.appVersion,
            sendId: identity.sendId
        )
    }
}
