import Postgres
import PushContract

/// The SQL of sends to large audiences, whose deliveries are stored in portions: one transaction for all of them would take longer than a
/// request may, and keep the keys of all their devices locked.
enum FanOutQueries {
    /// Notes that the deliveries are to be stored. The audience does not lose members until they are (`isBeingSentTo`).
    static func begin(_ send: FanOutSend, to audience: FanOut.Audience, devices: Int, on connection: BlockingConnection) throws {
        try connection.execute("SELECT FROM audiences WHERE audienceId = \(audience.id) FOR SHARE")
        try connection.execute(
            """
            INSERT INTO pushFanOuts
                (sendId, audienceId, app, providers, platforms, environments, apps, devices, collapseId, version, acceptedAs)
            VALUES (\(send.sendId), \(audience.id), \(audience.app), \(send.kinds.map(\.provider.rawValue)),
                \(send.kinds.map(\.platform.rawValue)), \(send.kinds.map(\.environment.rawValue)), \(send.kinds.map(\.app)), \(devices),
                \(send.collapseId), \(send.version), nextval('pushDeliveries_deliveryId_seq'))
            """
        )
    }

    /// A send to the audience that is not stored to its end; its sendId. The audience's row must be locked.
    static func isBeingSentTo(_ audienceId: String, on connection: BlockingConnection) throws -> String? {
        try connection.query("SELECT sendId FROM pushFanOuts WHERE audienceId = \(audienceId) LIMIT 1").first?.decode(String.self)
    }

    /// The send whose turn it is: of the highest class, the one that has waited longest.
    static func next(except sendIds: [String]) -> Query {
        """
        SELECT sendId FROM pushFanOuts JOIN pushSends USING (sendId) WHERE sendId <> ALL(\(sendIds)) ORDER BY class, storedAt LIMIT 1
        """
    }

    /// Locks what is to be stored of a send; nil if another instance stores a portion of it, or everything is stored.
    static func lock(_ sendId: String, on connection: BlockingConnection) throws -> (send: FanOutSend, audience: FanOut.Audience)? {
        guard
            let row = try connection.query(
                """
                SELECT audienceId, app, providers, platforms, environments, apps, collapseId, version, acceptedAs, afterUid, class,
                    notBefore IS NOT NULL, expiresAt
                FROM pushFanOuts f JOIN pushSends USING (sendId) WHERE sendId = \(sendId) FOR UPDATE OF f SKIP LOCKED
                """
            ).first
        else { return nil }
        let values = try row.decode(
            (String, String?, [String], [String], [String], [String], String?, Int64?, Int64, String, String, Bool, Timestamp).self
        )
        let send = FanOutSend(
            sendId: sendId,
            kinds: try values.2.indices.map { try PayloadKind(values.2[$0], values.3[$0], values.4[$0], values.5[$0]) },
            deliveryClass: try stored(values.10),
            collapseId: values.6,
            version: values.7,
            acceptedAs: values.8,
            mayBeLater: values.11,
            expiresAt: values.12
        )
        return (send, FanOut.Audience(id: values.0, app: values.1, afterUid: values.9))
    }

    /// Stores the deliveries of the next members; how many.
    static func storeNext(of sendId: String, members limit: Int, on connection: BlockingConnection) throws -> Int? {
        guard let (send, start) = try lock(sendId, on: connection) else { return nil }
        var audience = start
        let (members, last) = try connection.query(
            """
            SELECT count(*), max(uid) FROM (
                SELECT uid FROM audienceMembers WHERE audienceId = \(audience.id) AND uid > \(audience.afterUid) ORDER BY uid LIMIT \(limit)
            ) portion
            """
        )[0].decode((Int, String?).self)
        audience.lastUid = last
        let deliveries = last == nil ? 0 : try FanOut(audience, now: .now()).store(send, on: connection)
        if members < limit {
            try connection.execute("DELETE FROM pushFanOuts WHERE sendId = \(sendId)")
        } else {
            try connection.execute("UPDATE pushFanOuts SET afterUid = \(last), storedAt = clock_timestamp() WHERE sendId = \(sendId)")
        }
        return deliveries
    }
}
