package import Postgres
package import PushContract

/// Where Live Activities can be started: SQL for statements that join `devices d`.
package enum StartTargets {
    /// The start token of a device for activities of a type, as `s`. It is the one the app has registered for that type, whatever its
    /// state; the one without a type where the app has named none for it.
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

    /// The condition of SQL on `d` and `s`: seen within 90 days, with a start token that is active, or suspect and rested, and with iOS
    /// 17.2 or later. The start token of a device that has not said its version is kept and not used. The version is read as `OSVersion`
    /// does.
    package static func usable(at now: Timestamp) -> Query {
        """
        (d.expiresAt > \(now) AND d.provider = 'apns' AND s.token IS NOT NULL
            AND string_to_array(substring(d.osVersion FROM '[0-9]{1,4}(?:\\.[0-9]{1,4})?'), '.')::int[] >= ARRAY[17, 2] AND (s.state = 'active'
            OR (s.state = 'suspect' AND s.since <= \(now - DeviceTokens.suspectPeriod))))
        """
    }
}
