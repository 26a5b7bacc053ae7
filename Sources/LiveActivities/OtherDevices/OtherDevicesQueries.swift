import Delivery
import Postgres
import PushContract

/// The SQL of devices without Live Activities.
enum OtherDevicesQueries {
    /// Of the device `d`.
    static let isAndroid: Query = "d.platform = 'android'"

    /// Of the device `d` with its start token `s`: it shows no Live Activity of the subject, and will not. One whose app starts it by itself
    /// has an activity.
    static func isOther(_ subject: Query, now: Timestamp) -> Query {
        """
        (d.platform = 'web' OR d.platform = 'ios' AND NOT coalesce(\(StartTargets.usable(at: now)), false)
            AND NOT EXISTS (SELECT FROM liveActivities a WHERE a.matchId = \(subject) AND a.userId = d.userId AND a.deviceId = d.deviceId
                AND a.status <> 'ended'))
        """
    }

    /// Followers' devices: `f`, `d`, and the start token `s`.
    static func followers(of subject: String, type: String, now: Timestamp) -> Query {
        """
        follows f JOIN devices d ON d.userId = f.userId AND d.deviceId = coalesce(f.onlyDeviceId, d.deviceId) AND d.expiresAt > \(now)
        \(StartTargets.token(for: "\(type)"))
        WHERE f.matchId = \(subject) AND coalesce(f.expiresAt, 'infinity') > \(now)
        """
    }

    static func android(_ subject: String, type: String, now: Timestamp) -> Query {
        "SELECT d.userId AS uid, d.deviceId FROM \(followers(of: subject, type: type, now: now)) AND \(isAndroid)"
    }

    static func others(_ subject: String, type: String, now: Timestamp) -> Query {
        """
        SELECT d.userId AS uid, d.deviceId FROM \(followers(of: subject, type: type, now: now)) AND \(isOther("\(subject)", now: now))
        """
    }

    /// Of the device `d`: registered since then, anew or with another token.
    private static func isRegistered(since: Timestamp) -> Query { "d.tokenState = 'active' AND d.tokenStateSince > \(since)" }

    /// Android devices that are registered, or whose user follows, only since then, and that were not sent this state or a newer one since.
    static func newcomers(_ subject: LiveSubject, since: Timestamp, now: Timestamp) -> Query {
        let prefix = OtherDevicesSend.prefix(subject.id)
        return """
            \(android(subject.id, type: subject.attributesType, now: now))
                AND (f.followedAt > \(since) OR \(isRegistered(since: since)))
                AND NOT EXISTS (SELECT FROM pushDeliveries p WHERE p.uid = d.userId AND p.deviceId = d.deviceId
                    AND p.createdAt >= greatest(f.followedAt, d.registeredAt) AND p.sendId >= \(prefix + "\(subject.timestamp)~") AND p.sendId < \(prefix + "~"))
            """
    }

    /// Subjects that may have such devices, of those that go on.
    static func withNewcomers(since: Timestamp) -> Query {
        """
        SELECT DISTINCT f.matchId FROM follows f WHERE f.expiresAt IS NULL AND f.followedAt > \(since)
            AND EXISTS (SELECT FROM devices d WHERE d.userId = f.userId AND \(isAndroid))
        UNION
        SELECT f.matchId FROM devices d JOIN follows f ON f.userId = d.userId
        WHERE \(isAndroid) AND \(isRegistered(since: since)) AND f.expiresAt IS NULL
        """
    }

    /// Android devices of a user that were sent the subject.
    static func shown(_ subject: String, userId: String, now: Timestamp) -> Query {
        """
        SELECT d.userId AS uid, d.deviceId FROM devices d WHERE d.userId = \(userId) AND \(isAndroid) AND d.expiresAt > \(now)
            AND EXISTS (SELECT FROM pushDeliveries p WHERE p.uid = d.userId AND p.deviceId = d.deviceId
                AND \(isOf(subject, "p.sendId")))
        """
    }

    /// Whether a send is one of a subject's.
    static func isOf(_ subject: String, _ sendId: Query) -> Query {
        // "~" is the last of the visible characters, so that the range ends behind every sendId that begins so.
        "(\(sendId) >= \(OtherDevicesSend.prefix(subject)) AND \(sendId) < \(OtherDevicesSend.prefix(subject) + "~"))"
    }

    /// The progress of a subject, locked.
    static func lock(_ subject: String) -> Query {
        """
        SELECT stateTimestamp, sentAt, sentOrder, alertTimestamp, shownAlert, hasEnded, liveUpdateSendId, keyEventSendId
        FROM liveSends WHERE matchId = \(subject) FOR UPDATE
        """
    }

    static func make(_ subject: String) -> Query { "INSERT INTO liveSends (matchId) VALUES (\(subject)) ON CONFLICT DO NOTHING" }

    static func save(_ progress: OtherDevicesProgress, of subject: String) -> Query {
        """
        UPDATE liveSends SET stateTimestamp = \(progress.stateTimestamp), sentAt = \(progress.sentAt), sentOrder = \(progress.sentOrder),
            alertTimestamp = \(progress.alertTimestamp), shownAlert = \(progress.shownAlert), hasEnded = \(progress.hasEnded),
            liveUpdateSendId = \(progress.liveUpdateSendId), keyEventSendId = \(progress.keyEventSendId)
        WHERE matchId = \(subject)
        """
    }
}

extension OtherDevicesProgress {
    init(_ row: Row) throws {
        let values = try row.decode((Int64, Timestamp?, Int64, Int64, Int64, Bool, String?, String?).self)
        self.init(
            stateTimestamp: values.0,
            sentAt: values.1,
            sentOrder: values.2,
            alertTimestamp: values.3,
            shownAlert: values.4,
            hasEnded: values.5,
            liveUpdateSendId: values.6,
            keyEventSendId: values.7
        )
    }
}
