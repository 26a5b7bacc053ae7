package import Postgres
package import PushContract

/// Whom a send can go to. Runs on the caller's connection, in its transaction.
package enum DeviceTargets {
    private static let columns = "userId, deviceId, platform, provider, environment, app, tokenState"

    /// All devices of these users that were seen within 90 days, whatever their token's state, in a stable order.
    package static func of(users: [String], on connection: BlockingConnection, now: Timestamp) throws -> [DeviceTarget] {
        guard !users.isEmpty else { return [] }
        return try connection.query(
            """
            SELECT \(raw: columns) FROM devices WHERE userId = ANY(\(users)) AND expiresAt > \(now)
            ORDER BY userId, deviceId
            """
        ).map(DeviceTarget.init)
    }

    /// The devices with these ids. A deviceId is known for more than one user when a phone is shared; the latest registration is first.
    package static func of(devices: [String], on connection: BlockingConnection, now: Timestamp) throws -> [DeviceTarget] {
        guard !devices.isEmpty else { return [] }
        return try connection.query(
            """
            SELECT \(raw: columns) FROM devices WHERE deviceId = ANY(\(devices)) AND expiresAt > \(now)
            ORDER BY deviceId, registrationVersion DESC
            """
        ).map(DeviceTarget.init)
    }

    /// Whose devices these tokens are, for sends to a bare token.
    package static func owners(of hashes: [String], on connection: BlockingConnection, now: Timestamp) throws -> [String: String] {
        guard !hashes.isEmpty else { return [:] }
        let rows = try connection.query(
            """
            SELECT pushTokenHash, userId FROM devices
            WHERE pushTokenHash = ANY(\(hashes)) AND tokenState <> 'inactive' AND expiresAt > \(now)
            """
        )
        return try Dictionary(rows.map { try $0.decode((String, String).self) }, uniquingKeysWith: { first, _ in first })
    }
}

extension DeviceTarget {
    init(_ row: Row) throws {
        let values = try row.decode((String, String, String, String, String, String, String).self)
        self.init(
            userId: values.0,
            deviceId: values.1,
            platform: try stored(values.2),
            provider: try stored(values.3),
            environment: try stored(values.4),
            app: values.5,
            tokenState: try stored(values.6)
        )
    }
}
