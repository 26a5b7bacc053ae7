import Postgres
import PushContract

/// The SQL of start tokens.
enum StartTokenQueries {
    /// The device as it is, locked for this transaction.
    static func lockDevice(userId: String, deviceId: String, now: Timestamp) -> Query {
        """
        SELECT \(raw: DeviceQueries.columns) FROM devices
        WHERE userId = \(userId) AND deviceId = \(deviceId) AND expiresAt > \(now) FOR UPDATE
        """
    }

    /// The user's iOS devices: the alias may leave the deviceId out when there is one.
    static func onlyDevice(of userId: String, now: Timestamp) -> Query {
        "SELECT deviceId FROM devices WHERE userId = \(userId) AND platform = 'ios' AND expiresAt > \(now) ORDER BY deviceId LIMIT 100"
    }

    /// A start token belongs to one device, too.
    static func takeFromOthers(_ hash: TokenHash, app: String, userId: String, deviceId: String, now: Timestamp) -> Query {
        """
        UPDATE devices SET pushToStartToken = NULL, pushToStartTokenState = 'inactive', pushToStartTokenCause = '\(raw: DeviceQueries.moved)',
            pushToStartTokenSince = \(now)
        WHERE pushToStartTokenHash = \(hash.rawValue) AND app = \(app) AND pushToStartTokenState <> 'inactive'
          AND (userId, deviceId) <> (\(userId), \(deviceId))
        """
    }

    /// In place; the push token and its state stay as they are.
    static func register(
        _ encrypted: String,
        hash: TokenHash,
        for device: Device,
        _ registration: StartTokenRegistration,
        now: Timestamp
    ) -> Query {
        """
        UPDATE devices d SET pushToStartToken = \(encrypted), pushToStartTokenHash = \(hash.rawValue),
            pushToStartTokenSince = CASE WHEN d.pushToStartTokenState = 'active' AND d.pushToStartTokenHash = \(hash.rawValue)
                THEN d.pushToStartTokenSince ELSE \(now) END,
            pushToStartTokenState = 'active', pushToStartTokenCause = NULL, pushToStartRegisteredAt = \(now),
            pushToStartVersion = nextval('deviceRegistrationVersions'),
            osVersion = coalesce(\(registration.osVersion), d.osVersion), appVersion = coalesce(\(registration.appVersion), d.appVersion),
            lastSeenAt = greatest(d.lastSeenAt, \(now)), expiresAt = greatest(d.expiresAt, \(now) + interval '90 days')
        WHERE userId = \(device.userId) AND deviceId = \(device.deviceId)
        RETURNING \(raw: DeviceQueries.columns)
        """
    }

    /// The token of the same device under its previous user.
    static func inherit(_ encrypted: String, hash: String, by device: Device, now: Timestamp) -> Query {
        """
        UPDATE devices SET pushToStartToken = \(encrypted), pushToStartTokenHash = \(hash), pushToStartTokenState = 'active',
            pushToStartTokenCause = NULL, pushToStartTokenSince = \(now), pushToStartRegisteredAt = \(now),
            pushToStartVersion = nextval('deviceRegistrationVersions')
        WHERE userId = \(device.userId) AND deviceId = \(device.deviceId)
        RETURNING \(raw: DeviceQueries.columns)
        """
    }

    static func clear(_ device: Device, now: Timestamp) -> Query {
        """
        UPDATE devices SET pushToStartToken = NULL, pushToStartTokenHash = NULL, pushToStartTokenState = NULL, pushToStartTokenCause = NULL,
            pushToStartTokenSince = NULL, pushToStartRegisteredAt = NULL, pushToStartVersion = NULL,
            lastSeenAt = greatest(lastSeenAt, \(now)), expiresAt = greatest(expiresAt, \(now) + interval '90 days')
        WHERE userId = \(device.userId) AND deviceId = \(device.deviceId)
        RETURNING \(raw: DeviceQueries.columns)
        """
    }
}
