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
        let column = try row.decode((String, String, String, String, String, String, String, String?, String?, Timestamp, String, String?, String?, String?, String?, String?, Int32?, String?).self)
        guard let platform = Platform(rawValue: column.2), let provider = Provider(rawValue: column.3),
            let tokenHash = TokenHash(rawValue: column.4), let eventType = EventType(rawValue: column.5),
            let status = AttemptStatus(rawValue: column.6)
        else { throw PostgresError(.decoding, "a stored attempt has a value the contract does not know") }
        return Attempt(
            attemptId: column.0,
            uid: column.1,
            platform: platform,
            provider: provider,
            tokenHash: tokenHash,
            eventType: eventType,
            status: status,
            reasonCode: column.7.flatMap(ReasonCode.init),
            providerErrorCode: column.8,
            attemptedAt: column.9,
            requestId: column.10,
            app: column.11,
            environment: column.12.flatMap(PushEnvironment.init),
            pushType: column.13,
            appVersion: column.14,
            providerMessageId: column.15,
            latencyMs: column.16,
            sendId: column.17
        )
    }
}
