package import Postgres
package import PushContract

/// The registry's SQL.
enum DeviceQueries {
    private static let columns = """
        userId, deviceId, platform, provider, environment, app, pushTokenHash, tokenState, tokenStateCause, tokenStateSince, osVersion,
        appVersion, registrationVersion, registeredAt, lastSeenAt, expiresAt
        """

    /// Held to the end of the transaction. The hash of the hash may collide: then two tokens take turns for nothing.
    static func lockToken(_ hash: TokenHash) -> Query {
        "SELECT pg_advisory_xact_lock(hashtextextended('deviceToken:' || \(hash.rawValue), 0)) IS NULL"
    }

    /// A shared phone: the token was another user's, or the app was installed anew and has another deviceId.
    static func takeTokenFromOthers(_ registration: DeviceRegistration, now: Timestamp) -> Query {
        """
        UPDATE devices SET tokenState = 'off', tokenStateCause = 'moved', tokenStateSince = \(now)
        WHERE pushTokenHash = \(registration.token.hash.rawValue) AND provider = \(registration.provider.rawValue)
          AND app = \(registration.app) AND tokenState <> 'off'
          AND (userId, deviceId) <> (\(registration.userId), \(registration.deviceId))
        """
    }

    /// Insert or update in one statement, so that concurrent registrations of a device leave one row.
    static func register(_ device: DeviceRegistration, now: Timestamp) -> Query {
        """
        INSERT INTO devices AS d (userId, deviceId, platform, provider, environment, app, pushToken, pushTokenHash, tokenState,
            tokenStateSince, osVersion, appVersion, registrationVersion, registeredAt, tokenRegisteredAt, lastSeenAt, expiresAt)
        VALUES (\(device.userId), \(device.deviceId), \(device.platform.rawValue), \(device.provider.rawValue),
            \(device.environment.rawValue), \(device.app), \(device.token.rawValue), \(device.token.hash.rawValue), 'active',
            \(now), \(device.osVersion), \(device.appVersion), nextval('deviceRegistrationVersions'), \(now), \(now), \(now),
            \(now) + interval '90 days')
        ON CONFLICT (userId, deviceId) DO UPDATE SET
            platform = excluded.platform, provider = excluded.provider, environment = excluded.environment, app = excluded.app,
            pushToken = excluded.pushToken, pushTokenHash = excluded.pushTokenHash,
            tokenStateSince = CASE WHEN d.tokenState = 'active' AND d.pushTokenHash = excluded.pushTokenHash
                THEN d.tokenStateSince ELSE excluded.tokenStateSince END,
            tokenState = 'active', tokenStateCause = NULL, osVersion = excluded.osVersion, appVersion = excluded.appVersion,
            registrationVersion = excluded.registrationVersion, tokenRegisteredAt = excluded.tokenRegisteredAt,
            lastSeenAt = excluded.lastSeenAt, expiresAt = excluded.expiresAt
        RETURNING \(raw: columns)
        """
    }

    static func remove(userId: String, deviceId: String) -> Query {
        "DELETE FROM devices WHERE userId = \(userId) AND deviceId = \(deviceId) RETURNING \(raw: columns)"
    }

    static func find(userId: String, deviceId: String, now: Timestamp) -> Query {
        "SELECT \(raw: columns) FROM devices WHERE userId = \(userId) AND deviceId = \(deviceId) AND expiresAt > \(now)"
    }
}

extension Device {
    init(_ row: Row) throws {
        let values = try row.decode(
            String.self,
            String.self,
            String.self,
            String.self,
            String.self,
            String.self,
            String.self,
            String.self,
            String?.self,
            Timestamp.self,
            String?.self,
            String?.self,
            Int64.self,
            Timestamp.self,
            Timestamp.self,
            Timestamp.self
        )
        userId = values.0
        deviceId = values.1
        platform = try stored(values.2)
        provider = try stored(values.3)
        environment = try stored(values.4)
        app = values.5
        tokenHash = try stored(values.6)
        tokenState = try stored(values.7)
        tokenStateCause = values.8
        tokenStateSince = values.9
        osVersion = values.10
        appVersion = values.11
        registrationVersion = values.12
        registeredAt = values.13
        lastSeenAt = values.14
        expiresAt = values.15
    }
}

/// A stored text as the enumeration it came from.
package func stored<Value: RawRepresentable>(_ text: String) throws -> Value where Value.RawValue == String {
    guard let value = Value(rawValue: text) else {
        throw PostgresError(.decoding, "the database holds a \(Value.self) this version does not know")
    }
    return value
}
