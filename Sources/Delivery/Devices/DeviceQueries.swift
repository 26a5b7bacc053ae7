import Postgres
import PushContract

/// The registry's SQL.
enum DeviceQueries {
    /// The cause of a token that went to another device, or whose device went to another user.
    static let moved = "moved"
    /// The cause of a token that its app has unregistered.
    static let unregistered = "unregistered"

    static let columns = """
        userId, deviceId, platform, provider, environment, app, pushTokenHash, tokenState, tokenStateCause, tokenStateSince,
        pushToStartTokenHash, pushToStartTokenState, pushToStartTokenCause, pushToStartTokenSince, pushToStartVersion, osVersion,
        appVersion, registrationVersion, registeredAt, lastSeenAt, expiresAt, locale
        """

    /// Locked to the end of the transaction: who registers the token, and who registers the device.
    static func lock(_ registration: DeviceRegistration) -> Query {
        KeyLock.take(.token, [registration.token.hash.rawValue, "device " + registration.deviceId])
    }

    /// A shared phone: the token or the device was another user's, or the app was installed anew and has another deviceId. The start token
    /// belongs to the same installation, so it leaves with it; the answer holds it as it was, and whether the push token is the same.
    static func takeFromOthers(_ registration: DeviceRegistration, now: Timestamp) -> Query {
        """
        WITH previous AS MATERIALIZED (
            SELECT userId, deviceId, pushToStartToken, pushToStartTokenHash, pushToStartTokenState,
                pushTokenHash = \(registration.token.hash.rawValue) AS hasSamePushToken
            FROM devices
            WHERE app = \(registration.app) AND (userId, deviceId) <> (\(registration.userId), \(registration.deviceId)) AND (
                (tokenState <> 'inactive' AND pushTokenHash = \(registration.token.hash.rawValue)
                    AND provider = \(registration.provider.rawValue))
                OR (deviceId = \(registration.deviceId) AND tokenStateCause IS DISTINCT FROM '\(raw: moved)'))
            ORDER BY userId, deviceId FOR UPDATE
        )
        UPDATE devices d SET tokenState = 'inactive', tokenStateCause = '\(raw: moved)', tokenStateSince = \(now), pushToken = NULL,
            pushToStartToken = NULL,
            pushToStartTokenCause = CASE WHEN d.pushToStartTokenState <> 'inactive' THEN '\(raw: moved)' ELSE d.pushToStartTokenCause END,
            pushToStartTokenSince = CASE WHEN d.pushToStartTokenState <> 'inactive' THEN \(now) ELSE d.pushToStartTokenSince END,
            pushToStartTokenState = CASE WHEN d.pushToStartTokenState IS NOT NULL THEN 'inactive'::deviceTokenState END
        FROM previous p WHERE d.userId = p.userId AND d.deviceId = p.deviceId
        RETURNING p.userId, p.deviceId, p.pushToStartToken, p.pushToStartTokenHash, p.pushToStartTokenState, p.hasSamePushToken
        """
    }

    /// A device that was hidden begins anew; what it had is not revived.
    static func removeExpired(userId: String, deviceId: String, now: Timestamp) -> Query {
        "DELETE FROM devices WHERE userId = \(userId) AND deviceId = \(deviceId) AND expiresAt <= \(now)"
    }

    /// Insert or update in one statement, so that concurrent registrations of a device leave one row. What the app left out stays
    /// as it is.
    static func register(_ device: DeviceRegistration, encrypted: String, secret: UnregisterSecret, now: Timestamp) -> Query {
        """
        INSERT INTO devices AS d (userId, deviceId, platform, provider, environment, app, pushToken, pushTokenHash, tokenState,
            tokenStateSince, osVersion, appVersion, registrationVersion, registeredAt, tokenRegisteredAt, lastSeenAt, expiresAt,
            unregisterSecrets, locale)
        VALUES (\(device.userId), \(device.deviceId), \(device.platform.rawValue), \(device.provider.rawValue),
            \(device.environment.rawValue), \(device.app), \(encrypted), \(device.token.hash.rawValue), 'active',
            \(now), \(device.osVersion), \(device.appVersion), nextval('deviceRegistrationVersions'), \(now), \(now), \(now),
            \(now) + interval '90 days', ARRAY[\(secret.hash)], \(device.locale))
        ON CONFLICT (userId, deviceId) DO UPDATE SET
            platform = excluded.platform, provider = excluded.provider, app = excluded.app,
            -- Where APNs took this very token it knows better than the app.
            environment = CASE WHEN d.environmentTrial = 'found' AND d.pushTokenHash = excluded.pushTokenHash AND d.app = excluded.app
                THEN d.environment ELSE excluded.environment END,
            environmentTrial = CASE WHEN d.environmentTrial = 'found' AND d.pushTokenHash = excluded.pushTokenHash AND d.app = excluded.app
                THEN d.environmentTrial END,
            pushToken = excluded.pushToken, pushTokenHash = excluded.pushTokenHash,
            tokenStateSince = CASE WHEN d.tokenState = 'active' AND d.pushTokenHash = excluded.pushTokenHash
                THEN d.tokenStateSince ELSE excluded.tokenStateSince END,
            tokenState = 'active', tokenStateCause = NULL, osVersion = coalesce(excluded.osVersion, d.osVersion),
            appVersion = coalesce(excluded.appVersion, d.appVersion), locale = coalesce(excluded.locale, d.locale),
            -- Back from another user: its activities, which ended with that, may be started again.
            registeredAt = CASE WHEN d.tokenStateCause = '\(raw: moved)' THEN excluded.registeredAt ELSE d.registeredAt END,
            registrationVersion = excluded.registrationVersion, tokenRegisteredAt = excluded.tokenRegisteredAt,
            lastSeenAt = excluded.lastSeenAt, expiresAt = excluded.expiresAt,
            unregisterSecrets = (excluded.unregisterSecrets || d.unregisterSecrets)[1:\(raw: String(UnregisterSecret.maximumCount))]
        RETURNING \(raw: columns)
        """
    }

    static func remove(_ which: Query) -> Query { "DELETE FROM devices d WHERE \(which) RETURNING \(raw: columns)" }

    /// The push token alone: the device's start tokens and activities stay. Returns each device as it was before, by its columns.
    ///
    /// - Parameter which: the condition on the devices `d`.
    static func unregisterToken(_ which: Query, now: Timestamp) -> Query {
        """
        UPDATE devices d SET tokenState = 'inactive', tokenStateCause = '\(raw: unregistered)', tokenStateSince = \(now), pushToken = NULL
        WHERE \(which) RETURNING \(raw: columns)
        """
    }

    static func find(userId: String, deviceId: String, now: Timestamp) -> Query {
        "SELECT \(raw: columns) FROM devices WHERE userId = \(userId) AND deviceId = \(deviceId) AND expiresAt > \(now)"
    }

    static func all(of userId: String, now: Timestamp) -> Query {
        "SELECT \(raw: columns) FROM devices WHERE userId = \(userId) AND expiresAt > \(now) ORDER BY lastSeenAt DESC, deviceId"
    }

    /// The user's devices beyond so many, those that were seen longest ago; as a condition on `d`.
    static func beyond(_ limit: Int, of device: Device) -> Query {
        """
        d.userId = \(device.userId) AND d.deviceId IN (
            SELECT deviceId FROM devices WHERE userId = \(device.userId)
            ORDER BY deviceId = \(device.deviceId) DESC, lastSeenAt DESC, deviceId OFFSET \(limit))
        """
    }

    /// A batch of those that are hidden already; a device that is being registered at this moment is left alone.
    static func sweep(limit: Int, now: Timestamp) -> Query {
        """
        WITH late AS MATERIALIZED (
            SELECT userId, deviceId FROM devices WHERE expiresAt <= \(now) ORDER BY expiresAt LIMIT \(limit) FOR UPDATE SKIP LOCKED
        )
        DELETE FROM devices d USING late WHERE d.userId = late.userId AND d.deviceId = late.deviceId
        RETURNING d.userId, d.deviceId
        """
    }
}

/// A stored text as the enumeration it came from.
package func stored<Value: RawRepresentable>(_ text: String) throws -> Value where Value.RawValue == String {
    guard let value = Value(rawValue: text) else {
        throw PostgresError(.decoding, "the database holds a \(Value.self) this version does not know")
    }
    return value
}
