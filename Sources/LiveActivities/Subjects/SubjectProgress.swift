import Postgres
import PushContract

/// Whether anybody is shown a subject, or will be. Spelled as answered.
enum SubjectProgress: String, Sendable, Hashable, CaseIterable {
    /// A device has an activity that takes updates.
    case active
    /// An activity is being started, or started again.
    case starting
    /// It is followed, and no device can be started now.
    case waiting
    /// No device has an activity, and none will: nobody follows it any more, or the subject is over.
    case ended

    /// Makes the activities that are missing first, so that an activity that lost its token counts as starting exactly if it is.
    static func find(
        _ subject: String,
        type: AttributesType,
        _ policy: StartPolicy,
        on connection: BlockingConnection,
        now: Timestamp
    ) throws -> SubjectProgress {
        let open: Query = "SELECT 1 FROM liveActivities WHERE matchId = \(subject)"
        if try !connection.query("\(open) AND status = 'active' LIMIT 1").isEmpty { return .active }
        try connection.execute(PendingActivities.create(subject, policy, now: now))
        if try !connection.query("\(open) AND status = 'pending' LIMIT 1").isEmpty { return .starting }
        if type.otherDevices.android == .states {
            // An Android device takes updates without an activity.
            let android: Query = "SELECT FROM \(OtherDevicesQueries.followers(of: subject, now: now)) AND \(OtherDevicesQueries.isAndroid)"
            let isLive: Query = "SELECT FROM liveSubjects WHERE subject = \(subject) AND isLive"
            if try !connection.query("SELECT 1 WHERE EXISTS (\(android) AND d.tokenState <> 'inactive') AND EXISTS (\(isLive))").isEmpty {
                return .active
            }
        }
        let followed = try connection.query(
            """
            SELECT 1 FROM follows f JOIN liveSubjects m ON m.subject = f.matchId
            WHERE f.matchId = \(subject) AND m.phase <> 'ended' AND coalesce(f.expiresAt, 'infinity') > \(now) LIMIT 1
            """
        )
        return followed.isEmpty ? .ended : .waiting
    }
}
