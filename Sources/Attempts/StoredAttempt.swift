package import Postgres
package import PushContract

/// Reading attempts back from `notificationDeliveryAttempts`.
package enum StoredAttempt {
    /// The columns, in the order `decode` expects.
    package static let columns = """
        attemptId, uid, platform, provider, tokenHash, eventType, status, reasonCode, providerErrorCode, attemptedAt, requestId,
        app, environment, pushType, appVersion, providerMessageId, latencyMs, sendId
        """

    package static func decode(_ row: Row) throws -> Attempt {
        let (
            id, uid, platform, provider, hash, event, status, reason, code, at, request, app, environment, type, version, message, latency,
            send
        ) =
            try row.decode(
                String.self,
                String.self,
                String.self,
                String.self,
                String.self,
                String.self,
                String.self,
                String?.self,
                String?.self,
                Timestamp.self,
                String.self,
                String?.self,
                String?.self,
                String?.self,
                String?.self,
                String?.self,
                Int32?.self,
                String?.self
            )
        return try attempt(
            id,
            uid,
            platform,
            provider,
            hash,
            event,
            status,
            reason,
            code,
            at,
            request,
            app,
            environment,
            type,
            version,
            message,
            latency,
            send
        )
    }

    static func decodeWithKey(_ row: Row) throws -> (AttemptKey, Attempt) {
        let (
            key, id, uid, platform, provider, hash, event, status, reason, code, at, request, app, environment, type, version, message,
            latency, send
        ) =
            try row.decode(
                AttemptKey.self,
                String.self,
                String.self,
                String.self,
                String.self,
                String.self,
                String.self,
                String.self,
                String?.self,
                String?.self,
                Timestamp.self,
                String.self,
                String?.self,
                String?.self,
                String?.self,
                String?.self,
                String?.self,
                Int32?.self,
                String?.self
            )
        let attempt = try attempt(
            id,
            uid,
            platform,
            provider,
            hash,
            event,
            status,
            reason,
            code,
            at,
            request,
            app,
            environment,
            type,
            version,
            message,
            latency,
            send
        )
        return (key, attempt)
    }

    private static func attempt(
        _ id: String,
        _ uid: String,
        _ platform: String,
        _ provider: String,
        _ hash: String,
        _ event: String,
        _ status: String,
        _ reason: String?,
        _ code: String?,
        _ at: Timestamp,
        _ request: String,
        _ app: String?,
        _ environment: String?,
        _ type: String?,
        _ version: String?,
        _ message: String?,
        _ latency: Int32?,
        _ send: String?
    ) throws -> Attempt {
        guard let platform = Platform(rawValue: platform), let provider = Provider(rawValue: provider),
            let hash = TokenHash(rawValue: hash), let event = EventType(rawValue: event), let status = AttemptStatus(rawValue: status)
        else { throw PostgresError(.decoding, "a stored attempt has a value the contract does not know") }
        return Attempt(
            attemptId: id,
            uid: uid,
            platform: platform,
            provider: provider,
            tokenHash: hash,
            eventType: event,
            status: status,
            reasonCode: reason.flatMap(ReasonCode.init),
            providerErrorCode: code,
            attemptedAt: at,
            requestId: request,
            app: app,
            environment: environment.flatMap(PushEnvironment.init),
            pushType: type,
            appVersion: version,
            providerMessageId: message,
            latencyMs: latency,
            sendId: send
        )
    }
}
