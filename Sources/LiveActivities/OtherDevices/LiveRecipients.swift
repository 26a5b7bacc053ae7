package import Delivery
package import Postgres
package import PushContract

/// Whom sends of subjects and matches go to.
package enum LiveRecipients: DeviceSelection {
    /// Followers' Android devices.
    case android(subject: String)
    /// Followers' browsers, and iOS devices that show no Live Activity.
    case others(subject: String, type: String)
    /// Android devices that are registered, or whose user follows, only since then, and that were not sent the state of this timestamp or a
    /// newer one since.
    case newcomers(subject: String, since: Timestamp, timestamp: Int64)
    /// Android devices of a user that were sent the subject.
    case shown(subject: String, userId: String)
    /// All devices of a match's followers whom no other send before the match has gone to.
    case beforeMatch(matchId: String, sendId: String)

    package func people(_ uids: UidRange, now: Timestamp) -> Query {
        switch self {
        case .android(let subject), .others(let subject, _): LiveRecipients.followers(of: subject, uids, now: now)
        case .newcomers(let subject, let since, _):
            """
            \(LiveRecipients.followers(of: subject, uids, now: now)) AND f.userId IN (
                SELECT n.userId FROM follows n WHERE n.matchId = \(subject) AND n.expiresAt IS NULL AND n.followedAt > \(since)
                UNION ALL SELECT d.userId FROM devices d WHERE \(OtherDevicesQueries.isRegistered(since: since)))
            """
        case .shown(_, let userId): "SELECT \(userId)::text AS uid, NULL::text AS deviceId"
        case .beforeMatch(let matchId, let sendId):
            """
            SELECT f.userId AS uid, NULL::text AS deviceId FROM \(OtherDevicesQueries.follows(matchId, now: now))
                AND \(uids.contains("f.userId")) AND \(PrematchQueries.isNotAlerted("f.userId", before: matchId, except: sendId))
            """
        }
    }

    private static func followers(of subject: String, _ uids: UidRange, now: Timestamp) -> Query {
        """
        SELECT f.userId AS uid, f.onlyDeviceId AS deviceId, f.followedAt FROM \(OtherDevicesQueries.follows(subject, now: now))
            AND \(uids.contains("f.userId"))
        """
    }

    package func includes(now: Timestamp) -> Query {
        switch self {
        case .android: OtherDevicesQueries.isAndroid
        case .others(let subject, let type): OtherDevicesQueries.isOther("\(subject)", type: "\(type)", now: now)
        case .newcomers(let subject, let since, let timestamp):
            """
            \(OtherDevicesQueries.isAndroid) AND (p.followedAt > \(since) OR \(OtherDevicesQueries.isRegistered(since: since)))
                AND NOT EXISTS (SELECT FROM pushDeliveries e WHERE e.uid = d.userId AND e.deviceId = d.deviceId
                    AND e.createdAt >= greatest(p.followedAt, d.registeredAt) AND \(OtherDevicesQueries.isOf(subject, from: timestamp, "e.sendId")))
            """
        case .shown(let subject, _):
            """
            \(OtherDevicesQueries.isAndroid) AND EXISTS (SELECT FROM pushDeliveries e WHERE e.uid = d.userId AND e.deviceId = d.deviceId
                AND \(OtherDevicesQueries.isOf(subject, "e.sendId")))
            """
        case .beforeMatch: "true"
        }
    }
}
