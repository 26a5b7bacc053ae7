import Delivery
import Postgres
import PushContract

/// The SQL of devices without Live Activities.
enum OtherDevicesQueries {
    /// Of the device `d`.
    static let isAndroid: Query = "d.platform = 'android'"

    /// Of the device `d`: it shows no Live Activity of the subject, and will not. One whose app starts it by itself has an activity.
    static func isOther(_ subject: Query, type: Query, now: Timestamp) -> Query {
        """
        (d.platform = 'web' OR d.platform = 'ios'
            AND NOT EXISTS (SELECT FROM (VALUES (0)) AS device \(StartTargets.token(for: type)) WHERE \(StartTargets.usable(at: now)))
            AND NOT EXISTS (SELECT FROM liveActivities a WHERE a.matchId = \(subject) AND a.userId = d.userId AND a.deviceId = d.deviceId
                AND a.status <> 'ended'))
        """
    }

    /// Those of a subject: `f`.
    static func follows(_ subject: String, now: Timestamp) -> Query { "follows f WHERE \(isFollow(of: subject, now: now))" }

    private static func isFollow(of subject: String, now: Timestamp) -> Query {
        "f.matchId = \(subject) AND coalesce(f.expiresAt, 'infinity') > \(now)"
    }

    /// Followers' devices: `f` and `d`.
    static func followers(of subject: String, now: Timestamp) -> Query {
        """
        devices d JOIN follows f ON d.userId = f.userId AND d.deviceId = coalesce(f.onlyDeviceId, d.deviceId)
        WHERE d.expiresAt > \(now) AND \(isFollow(of: subject, now: now))
        """
    }

    /// Of the device `d`: registered since then, anew or with another token.
    static func isRegistered(since: Timestamp) -> Query { "d.tokenState = 'active' AND d.tokenStateSince > \(since)" }

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

    /// Whether a send is one of a subject's.
    ///
    /// - Parameter timestamp: of the oldest state that counts; nil: all.
    static func isOf(_ subject: String, from timestamp: Int64? = nil, _ sendId: Query) -> Query {
        let prefix = OtherDevicesSend.prefix(subject)
        // "~" is the last of the visible characters, so that the range ends behind every sendId that begins so.
        return "(\(sendId) >= \(prefix + (timestamp.map { "\($0)~" } ?? "")) AND \(sendId) < \(prefix + "~"))"
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
