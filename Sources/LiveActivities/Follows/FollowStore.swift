import Delivery
package import Postgres
package import PushContract

/// Who follows which subject; `matchId` is the name of any. Safe to use from any task.
package struct FollowStore: Sendable {
    /// Follows of one user of subjects of which nothing is known. There are only as many others as there are subjects.
    static let unknownLimit = 1_000

    private let pool: PostgresPool
    private let policy: StartPolicy

    package init(pool: PostgresPool, policy: StartPolicy = StartPolicy()) {
        self.pool = pool
        self.policy = policy
    }

    /// The phase of a followed subject. One that is not a match is `live` or `ended`.
    package struct FollowState: Sendable {
        package var phase: String
        /// The content state as its bytes; of a match the `UnifiedDisplayState`.
        package var displayState: String
    }

    /// Follows; a live subject gets its pending activities in the same transaction, on every device of the user that can be started. The
    /// follow of a subject that is over, as of a tap that was delivered late, expires with the subject. With one more than `unknownLimit`
    /// the oldest follow of a subject of which nothing is known ends.
    ///
    /// - Parameters:
    ///   - deviceId: where the person tapped.
    ///   - position: what the user wants first, from 1; nil keeps the one it has.
    ///   - startsHere: the app starts the activity on that device by itself if the subject is live, so no start is sent to it unless its
    ///     token stays away; also if the device is registered only later.
    /// - Returns: the phase of the subject; nil when nothing is known of it yet.
    package func follow(
        userId: String,
        matchId: String,
        deviceId: String?,
        startsHere: Bool,
        position: Int16? = nil,
        now: Timestamp
    ) async throws -> FollowState? {
        try await pool.performTransaction { [policy] connection in
            try connection.execute(
                """
                INSERT INTO follows AS f (userId, matchId, deviceId, position, followedAt, expiresAt, startsHereAt)
                VALUES (\(userId), \(matchId), \(deviceId), \(position), \(now), (
                    SELECT m.endedAt + \(SubjectStore.retention.inSeconds) * interval '1 second' FROM liveSubjects m
                    WHERE m.subject = \(matchId)), (
                    SELECT \(now)::timestamptz FROM liveSubjects m WHERE m.subject = \(matchId) AND m.isLive AND \(startsHere)))
                ON CONFLICT (userId, matchId) DO UPDATE SET position = coalesce(excluded.position, f.position), onlyDeviceId = NULL,
                    deviceId = CASE WHEN excluded.startsHereAt IS NULL THEN f.deviceId ELSE excluded.deviceId END,
                    startsHereAt = coalesce(excluded.startsHereAt, f.startsHereAt)
                WHERE f.onlyDeviceId IS NOT NULL OR excluded.startsHereAt IS NOT NULL
                    OR excluded.position IS NOT NULL AND f.position IS DISTINCT FROM excluded.position
                """
            )
            try connection.execute(PendingActivities.create(matchId, userId: userId, policy, now: now))
            if startsHere { try connection.execute(StartQueries.postpone(matchId, of: userId, policy)) }
            let found = try connection.query("SELECT phase, contentState FROM liveSubjects WHERE subject = \(matchId)").first
            guard let (phase, state) = try found?.decode((String, String).self) else {
                try connection.execute(FollowQueries.endUnknown(of: userId, beyond: Self.unknownLimit))
                return nil
            }
            return FollowState(phase: phase, displayState: state)
        }
    }

    /// Ends the follow and every activity of it, on all of the user's devices. Nothing happens when there is none.
    package func unfollow(userId: String, matchId: String, now: Timestamp) async throws {
        try await pool.performTransaction { connection in
            try FollowQueries.unfollow(userId: userId, matchId: matchId, reason: .userUnfollow, gone: nil, on: connection, now: now)
        }
    }

    /// The matches a user follows, the oldest follow first.
    package func follows(of userId: String, now: Timestamp) async throws -> [String] {
        try await subjects(of: userId, now: now).filter { !$0.contains("/") }
    }

    /// The subjects of any type, as matchId or `<attributesType>/<activityId>`, the oldest follow first.
    func subjects(of userId: String, now: Timestamp) async throws -> [String] {
        try await pool.query(
            "SELECT matchId FROM follows WHERE userId = \(userId) AND coalesce(expiresAt, 'infinity') > \(now) ORDER BY followedAt, matchId"
        ).map { try $0.decode(String.self) }
    }

    /// Who follows a subject, in the order of their ids.
    func followers(of subject: String, after userId: String, limit: Int, now: Timestamp) async throws -> [String] {
        try await pool.query(
            """
            SELECT userId FROM follows WHERE matchId = \(subject) AND userId > \(userId) AND coalesce(expiresAt, 'infinity') > \(now)
            ORDER BY userId LIMIT \(limit)
            """
        ).map { try $0.decode(String.self) }
    }
}

enum FollowQueries {
    /// Such follows have no activities yet.
    static func endUnknown(of userId: String, beyond limit: Int) -> Query {
        """
        DELETE FROM follows WHERE userId = \(userId) AND matchId IN (
            SELECT f.matchId FROM follows f WHERE f.userId = \(userId) AND f.expiresAt IS NULL
                AND NOT EXISTS (SELECT FROM activeMatches m WHERE m.matchId = f.matchId)
                AND NOT EXISTS (SELECT FROM activitySubjects s WHERE s.subject = f.matchId)
            ORDER BY f.followedAt DESC, f.matchId OFFSET \(limit))
        """
    }

    static func unfollow(
        userId: String,
        matchId: String,
        reason: EndReason,
        gone deviceId: String?,
        on connection: BlockingConnection,
        now: Timestamp
    ) throws {
        let followed = try connection.execute("DELETE FROM follows WHERE userId = \(userId) AND matchId = \(matchId)")
        // In one order everywhere: the device's own end and an unfollow from another must not wait for each other in a circle.
        _ = try connection.query(
            """
            SELECT 1 FROM liveActivities WHERE matchId = \(matchId) AND userId = \(userId) AND status <> 'ended'
            ORDER BY deviceId, instance FOR UPDATE
            """
        )
        let own: Query = "matchId = \(matchId) AND userId = \(userId)"
        try ActivityEnds.end(own, reason: reason, gone: deviceId, on: connection, now: now)
        if followed > 0 { try OtherDevicesStore.end(matchId, of: userId, reason: reason, on: connection, now: now) }
    }
}
