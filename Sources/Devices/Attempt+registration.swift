import PushContract

extension Attempt {
    /// The telemetry of a registration or its end. The request is the operation: one that is sent again has its row already.
    static func registration(_ event: EventType, of device: Device, requestId: String, at now: Timestamp) -> Attempt {
        // The parts are checked where they come in, so none holds a control character.
        let derived = AttemptID.derive(
            eventType: event,
            uid: device.userId,
            platform: device.platform,
            provider: device.provider,
            tokenHash: device.tokenHash,
            operationKey: requestId,
            attemptNumber: 1
        )
        return Attempt(
            attemptId: derived ?? "\(event.rawValue):\(requestId)",
            uid: device.userId,
            platform: device.platform,
            provider: device.provider,
            tokenHash: device.tokenHash,
            eventType: event,
            status: .sent,
            attemptedAt: now,
            requestId: requestId,
            app: device.app,
            environment: device.environment,
            appVersion: device.appVersion
        )
    }
}
