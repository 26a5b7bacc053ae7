import PushContract

/// APNs' checks of the token itself, after the request's form is in order.
enum APNsTokenChecks {
    static func check(
        _ notification: APNsNotification,
        script: ScriptedToken?,
        environment: APNsEnvironment,
        now: Timestamp
    ) throws(APNsRefusal) {
        guard let script else { return }
        if let itsEnvironment = script.environment, itsEnvironment != environment {
            throw APNsRefusal(.badDeviceToken, "the token belongs to the \(itsEnvironment) environment, this is \(environment)")
        }
        if let topic = script.topic, topic != notification.topic, topic != notification.bundle {
            throw APNsRefusal(.deviceTokenNotForTopic, "the token belongs to \(topic)")
        }
        if script.dead {
            let reason = script.reason.flatMap(APNsReason.init(rawValue:)) ?? .unregistered
            throw APNsRefusal(reason, "the token is scripted as dead", timestamp: script.since ?? now.milliseconds)
        }
    }
}

extension Timestamp {
    /// Whole milliseconds since 1970, as Apple's 410 carries them.
    var milliseconds: Int64 {
        microseconds / 1000
    }
}
