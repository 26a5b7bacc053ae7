import PushContract

extension Attempt {
    /// The telemetry of a registration or its end. The request is the operation: one that is sent again has its row already.
    static func registration(_ event: EventType, of device: Device, requestId: String, at now: Timestamp) -> Attempt {
        registration(event, of: device, tokenHash: device.tokenHash, requestId: requestId, at: now)
    }

    /// The telemetry of a registration that was refused.
    ///
    /// - Parameter code: of the problem that the app got as the answer.
    static func refused(_ registration: DeviceRegistration, code: String, requestId: String, at now: Timestamp) -> Attempt {
        let derived = AttemptID.derive(
            eventType: .register,
            uid: registration.userId,
            platform: registration.platform,
            provider: registration.provider,
            tokenHash: registration.token.hash,
            operationKey: requestId,
            attemptNumber: 1
        )
        return Attempt(
            attemptId: derived ?? "register:\(requestId)",
            uid: registration.userId,
            platform: registration.platform,
            provider: registration.provider,
            tokenHash: registration.token.hash,
            eventType: .register,
            status: .failed,
            reasonCode: .tokenInvalid,
            providerErrorCode: code,
            attemptedAt: now,
            requestId: requestId,
            app: registration.app,
            environment: registration.environment,
            appVersion: registration.appVersion
        )
    }

    /// The same of a start token.
    static func startRegistration(
        _ event: EventType,
        of device: Device,
        tokenHash: TokenHash,
        requestId: String,
        at now: Timestamp
    ) -> Attempt {
        var attempt = registration(event, of: device, tokenHash: tokenHash, requestId: requestId, at: now)
        attempt.pushType = "liveactivity"
        return attempt
    }

    /// The telemetry of a start token that was refused for a device that is registered.
    static func refusedStart(of device: Device, tokenHash: TokenHash, code: String, requestId: String, at now: Timestamp) -> Attempt {
        var attempt = startRegistration(.register, of: device, tokenHash: tokenHash, requestId: requestId, at: now)
        (attempt.status, attempt.reasonCode, attempt.providerErrorCode) = (.failed, .tokenInvalid, code)
        return attempt
    }

    private static func registration(
        _ event: EventType,
        of device: Device,
        tokenHash: TokenHash,
        requestId: String,
        at now: Timestamp
    ) -> Attempt {
        // The parts are checked where they come in, so none holds a control character.
        let derived = AttemptID.derive(
            eventType: event,
            uid: device.userId,
            platform: device.platform,
            provider: device.provider,
            tokenHash: tokenHash,
            operationKey: requestId,
            attemptNumber: 1
        )
        return Attempt(
            attemptId: derived ?? "\(event.rawValue):\(requestId)",
            uid: device.userId,
            platform: device.platform,
            provider: device.provider,
            tokenHash: tokenHash,
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
