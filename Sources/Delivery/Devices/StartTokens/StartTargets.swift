package import Postgres
package import PushContract

/// Where Live Activities can be started. Runs on the caller's connection, in its transaction.
package enum StartTargets {
    /// For statements that join `devices d` themselves: the start token of a device for activities of a type, as `s`. It is the one the
    /// app has registered for that type, whatever its state; the one without a type where the app has named none for it.
    ///
    /// - Parameter type: SQL for the attributes type.
    package static func token(for type: Query) -> Query {
        """
        JOIN LATERAL (
            SELECT t.token, t.tokenHash AS hash, t.state, t.since, t.version FROM deviceStartTokens t
            WHERE t.userId = d.userId AND t.deviceId = d.deviceId AND t.attributesType = \(type)
            UNION ALL
            SELECT d.pushToStartToken, d.pushToStartTokenHash, d.pushToStartTokenState, d.pushToStartTokenSince, d.pushToStartVersion
            WHERE NOT EXISTS (SELECT FROM deviceStartTokens t
                WHERE t.userId = d.userId AND t.deviceId = d.deviceId AND t.attributesType = \(type))
        ) s ON true
        """
    }

    /// The condition of SQL on `d` and `s`: seen within 90 days, with a start token that is active, or suspect and rested, and with iOS 17.2 or
    /// later. The start token of a device that has not said its version is kept and not used. The version is read as `OSVersion` does.
    package static func usable(at now: Timestamp) -> Query {
        """
        (d.expiresAt > \(now) AND d.provider = 'apns' AND s.token IS NOT NULL
            AND string_to_array(substring(d.osVersion FROM '[0-9]{1,4}(?:\\.[0-9]{1,4})?'), '.')::int[] >= ARRAY[17, 2] AND (s.state = 'active'
            OR (s.state = 'suspect' AND s.since <= \(now - DeviceTokens.suspectPeriod))))
        """
    }

    /// All devices of these users that hold a usable start token, in a stable order; one statement.
    ///
    /// - Parameter app: only devices of this app.
    package static func of(
        users: [String],
        type: String = "",
        app: String? = nil,
        on connection: BlockingConnection,
        cipher: TokenCipher,
        now: Timestamp
    ) throws -> [StartTarget] {
        guard !users.isEmpty else { return [] }
        return try connection.query(
            """
            SELECT \(raw: columns) FROM devices d \(token(for: "\(type)"))
            WHERE d.userId = ANY(\(users)) AND (\(app)::text IS NULL OR d.app = \(app)) AND \(usable(at: now))
            ORDER BY d.userId, d.deviceId
            """
        ).map { try StartTarget($0, cipher: cipher) }
    }

    /// The usable ones among these devices, each named by its user and itself; one statement.
    package static func of(
        devices: [(userId: String, deviceId: String)],
        type: String = "",
        on connection: BlockingConnection,
        cipher: TokenCipher,
        now: Timestamp
    ) throws -> [StartTarget] {
        guard !devices.isEmpty else { return [] }
        return try connection.query(
            """
            SELECT \(raw: columns) FROM unnest(\(devices.map(\.userId)), \(devices.map(\.deviceId))) AS t(userId, deviceId)
            JOIN devices d ON d.userId = t.userId AND d.deviceId = t.deviceId \(token(for: "\(type)")) WHERE \(usable(at: now))
            ORDER BY d.userId, d.deviceId
            """
        ).map { try StartTarget($0, cipher: cipher) }
    }

    private static let columns = """
        d.userId, d.deviceId, d.environment, d.app, s.token, s.hash, s.version, s.state, d.osVersion, d.appVersion
        """
}

extension StartTarget {
    fileprivate init(_ row: Row, cipher: TokenCipher) throws {
        let values = try row.decode((String, String, String, String, String, String, Int64, String, String?, String?).self)
        userId = values.0
        deviceId = values.1
        environment = try stored(values.2)
        app = values.3
        token = try cipher.decrypt(values.4, as: .pushToStart, hash: try stored(values.5))
        version = values.6
        state = try stored(values.7)
        osVersion = values.8.flatMap { OSVersion($0) }
        appVersion = values.9
    }
}
