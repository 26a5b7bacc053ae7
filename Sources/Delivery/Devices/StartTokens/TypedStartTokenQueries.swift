import Postgres
import PushContract

/// The SQL of start tokens whose type the app names.
enum TypedStartTokenQueries {
    private static let columns = "t.deviceId, t.attributesType, t.tokenHash, t.state, t.cause, t.since, t.version"

    static func of(userId: String, deviceId: String) -> Query {
        """
        SELECT \(raw: columns) FROM deviceStartTokens t WHERE t.userId = \(userId) AND t.deviceId = \(deviceId) ORDER BY t.attributesType
        """
    }

    /// Those of all devices of a user.
    static func of(userId: String) -> Query {
        "SELECT \(raw: columns) FROM deviceStartTokens t WHERE t.userId = \(userId) ORDER BY t.deviceId, t.attributesType"
    }

    /// Those of devices that are about to go, with their owners.
    ///
    /// - Parameter devices: the condition on `d`.
    static func leaving(_ devices: Query) -> Query {
        """
        SELECT t.userId, t.deviceId, t.tokenHash FROM deviceStartTokens t
        JOIN devices d ON d.userId = t.userId AND d.deviceId = t.deviceId
        WHERE \(devices) AND t.state <> 'inactive' ORDER BY t.userId, t.attributesType
        """
    }

    /// A token belongs to one device and one type: who registers it takes it from where it was, and from the device's own untyped place.
    static func takeFromOthers(_ hash: TokenHash, app: String, userId: String, deviceId: String, attributesType: String?) -> Query {
        """
        DELETE FROM deviceStartTokens WHERE tokenHash = \(hash.rawValue) AND app = \(app)
            AND (userId, deviceId, attributesType) IS DISTINCT FROM (\(userId), \(deviceId), \(attributesType)::text)
        """
    }

    static func deleteUntyped(_ hash: TokenHash, of device: Device) -> Query {
        """
        UPDATE devices SET pushToStartToken = NULL, pushToStartTokenHash = NULL, pushToStartTokenState = NULL, pushToStartTokenCause = NULL,
            pushToStartTokenSince = NULL, pushToStartRegisteredAt = NULL, pushToStartVersion = NULL
        WHERE userId = \(device.userId) AND deviceId = \(device.deviceId) AND pushToStartTokenHash = \(hash.rawValue)
        """
    }

    static func register(_ encrypted: String, hash: TokenHash, attributesType: String, for device: Device, now: Timestamp) -> Query {
        """
        INSERT INTO deviceStartTokens AS t (userId, deviceId, attributesType, app, token, tokenHash, state, since, registeredAt, version)
        VALUES (\(device.userId), \(device.deviceId), \(attributesType), \(device.app), \(encrypted), \(hash.rawValue), 'active', \(now), \(now),
            nextval('deviceRegistrationVersions'))
        ON CONFLICT (userId, deviceId, attributesType) DO UPDATE SET app = excluded.app, token = excluded.token,
            since = CASE WHEN t.state = 'active' AND t.tokenHash = excluded.tokenHash THEN t.since ELSE excluded.since END,
            tokenHash = excluded.tokenHash, state = 'active', cause = NULL, registeredAt = excluded.registeredAt, version = excluded.version
        """
    }

    static func touch(_ device: Device, _ registration: StartTokenRegistration, now: Timestamp) -> Query {
        """
        UPDATE devices d SET osVersion = coalesce(\(registration.osVersion), d.osVersion),
            appVersion = coalesce(\(registration.appVersion), d.appVersion),
            lastSeenAt = greatest(d.lastSeenAt, \(now)), expiresAt = greatest(d.expiresAt, \(now) + interval '90 days')
        WHERE userId = \(device.userId) AND deviceId = \(device.deviceId)
        RETURNING \(raw: DeviceQueries.columns)
        """
    }

    static func clear(attributesType: String, of device: Device) -> Query {
        """
        DELETE FROM deviceStartTokens WHERE userId = \(device.userId) AND deviceId = \(device.deviceId)
            AND attributesType = \(attributesType) RETURNING tokenHash, state
        """
    }

    /// The tokens of the same installation go with it to its new user, unless that one has registered their own.
    static func move(from userId: String, to device: Device, now: Timestamp) -> Query {
        """
        UPDATE deviceStartTokens t SET userId = \(device.userId), app = \(device.app), registeredAt = \(now), since = \(now),
            version = nextval('deviceRegistrationVersions')
        WHERE t.userId = \(userId) AND t.deviceId = \(device.deviceId) AND t.state <> 'inactive'
          AND NOT EXISTS (SELECT FROM deviceStartTokens o WHERE o.userId = \(device.userId) AND o.deviceId = t.deviceId
              AND o.attributesType = t.attributesType)
        """
    }

    static func forget(userId: String, deviceId: String) -> Query {
        "DELETE FROM deviceStartTokens WHERE userId = \(userId) AND deviceId = \(deviceId)"
    }
}

extension TypedStartToken {
    init(_ row: Row) throws {
        let values = try row.decode((String, String, String, String, String?, Timestamp, Int64).self)
        deviceId = values.0
        attributesType = values.1
        token = Device.StartToken(
            hash: try stored(values.2),
            state: try stored(values.3),
            cause: values.4,
            since: values.5,
            version: values.6
        )
    }
}
