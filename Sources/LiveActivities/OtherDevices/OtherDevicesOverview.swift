import Delivery
import Postgres
import PushContract

/// Reads what devices without Live Activities get and were sent of a subject.
extension SubjectOverviewStore {
    struct OtherDevices: Encodable, Sendable {
        /// Followers' Android devices.
        var android: Int
        /// Followers' browsers, and iOS devices without Live Activities.
        var others: Int
        var liveUpdate: Send?
        var keyEvent: Send?

        /// The latest send of a kind.
        struct Send: Encodable, Sendable {
            var sendId: String
            /// Deliveries by their state.
            var deliveries: [String: Int]
        }
    }

    func otherDevices(of subject: String, type: String, now: Timestamp) async throws -> OtherDevices {
        let counts = try await pool.query(
            """
            SELECT count(*) FILTER (WHERE \(OtherDevicesQueries.isAndroid)),
                count(*) FILTER (WHERE \(OtherDevicesQueries.isOther("\(subject)", type: "\(type)", now: now)))
            FROM \(OtherDevicesQueries.followers(of: subject, now: now))
            """
        )[0].decode((Int, Int).self)
        var devices = OtherDevices(android: counts.0, others: counts.1)
        let rows = try await pool.query(
            """
            SELECT k.kind, k.sendId, CASE p.state WHEN 'ready' THEN 'queued' ELSE p.state END, count(p.deliveryId) FROM liveSends l
            CROSS JOIN LATERAL (VALUES ('liveUpdate', l.liveUpdateSendId), ('keyEvent', l.keyEventSendId)) AS k(kind, sendId)
            LEFT JOIN pushDeliveryStates p ON p.sendId = k.sendId
            WHERE l.matchId = \(subject) AND k.sendId IS NOT NULL GROUP BY 1, 2, 3
            """
        ).map { try $0.decode((String, String, String?, Int).self) }
        for (kind, sendId, state, count) in rows {
            let path: WritableKeyPath<OtherDevices, OtherDevices.Send?> = kind == "liveUpdate" ? \.liveUpdate : \.keyEvent
            var send = devices[keyPath: path] ?? OtherDevices.Send(sendId: sendId, deliveries: [:])
            if let state { send.deliveries[state] = count }
            devices[keyPath: path] = send
        }
        return devices
    }

    /// What each device of these followers gets, in the order of users and devices.
    func receives(
        of subject: String,
        type: String,
        users: [String],
        _ policy: OtherDevicesPolicy,
        now: Timestamp
    ) async throws -> [FollowerList.Device] {
        guard !users.isEmpty else { return [] }
        return try await pool.query(
            """
            SELECT d.userId, d.deviceId, d.platform, NOT \(OtherDevicesQueries.isOther("\(subject)", type: "\(type)", now: now)), d.tokenState <> 'inactive'
            FROM \(OtherDevicesQueries.followers(of: subject, now: now)) AND f.userId = ANY(\(users))
            ORDER BY d.userId, d.deviceId
            """
        ).map { row in
            let (userId, deviceId, platform, showsActivities, hasToken) = try row.decode((String, String, String, Bool, Bool).self)
            let receives = DeviceReceives(try stored(platform), showsActivities: showsActivities, policy)
            let isMissing = receives != .liveActivity && receives != .nothing && !hasToken
            return FollowerList.Device(
                userId: userId,
                deviceId: deviceId,
                receives: receives,
                reason: isMissing ? SubjectStatus.Reason.noPushToken.rawValue : nil
            )
        }
    }
}
