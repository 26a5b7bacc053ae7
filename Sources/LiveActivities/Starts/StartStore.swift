package import Delivery
package import Postgres
package import PushContract

/// Which starts are due, and who sends them. Safe to use from any task.
package struct StartStore: Sendable {
    private let pool: PostgresPool
    private let policy: StartPolicy
    private let channels: ChannelPolicy
    private let cipher: TokenCipher
    private let lost: LostAttempts

    package init(
        pool: PostgresPool,
        policy: StartPolicy = StartPolicy(),
        channels: ChannelPolicy = ChannelPolicy(),
        cipher: TokenCipher,
        record: @escaping AttemptRecorder
    ) {
        self.pool = pool
        self.policy = policy
        self.channels = channels
        self.cipher = cipher
        lost = LostAttempts(pool: pool, record: record)
    }

    /// Takes up to `limit` due starts of a subject, in the order of the devices' hashes. Each is claimed before it is sent and counts as
    /// delivered until its outcome says otherwise: a start whose sender dies is not sent again before its grace is over.
    ///
    /// Nothing is claimed for an epoch that is no longer current, or beyond a device's budget, or at the places to be left out.
    package func claim(
        _ subject: LiveSubject,
        limit: Int,
        except excluded: Set<AppEnvironment> = [],
        now: Timestamp
    ) async throws -> [StartClaim] {
        try await pool.query(StartQueries.claim(subject, policy, channels, limit: limit, except: excluded, now: now)).map { row in
            let values = try row.decode(
                (String, String, Int32, Int32, Int32, String, String, String?, String, String, Int64, Int64?, String?).self
            )
            return StartClaim(
                key: ActivityKey(subject: subject.id, userId: values.0, deviceId: values.1, instance: Int(values.2)),
                startId: values.10,
                token: try cipher.decrypt(values.8, as: .pushToStart, hash: try stored(values.9)),
                app: values.5,
                environment: try stored(values.6),
                osVersion: values.7,
                attempts: Int(values.3),
                delivered: Int(values.4) - 1,
                startTokenVersion: values.11,
                claimedAt: now,
                channelId: values.12
            )
        }
    }

    /// Whether a start or an end is due at a place.
    package func isWaiting(at appEnvironment: AppEnvironment, now: Timestamp) async throws -> Bool {
        try await pool.query(
            """
            SELECT EXISTS (SELECT FROM liveActivities WHERE app = \(appEnvironment.app) AND environment = \(appEnvironment.environment.rawValue)::pushEnvironment
                AND (endDueAt <= \(now) OR (status = 'pending' AND nextStartAt <= \(now))))
            """
        )[0].decode(Bool.self)
    }

    /// Starts whose process ended: whether they arrived is unknown, which is what their attempts say.
    package func resolveLost(olderThan age: Duration = .seconds(120), now: Timestamp) async throws -> Int {
        try await lost.settle { connection in
            try connection.query(StartQueries.lost(before: now - age)).map { row in
                let values = try row.decode((String, String, String, Int32, Timestamp, String, Int32, String, String).self)
                let key = ActivityKey(subject: values.0, userId: values.1, deviceId: values.2, instance: Int(values.3))
                let identity = key.attempt(
                    "start",
                    tokenHash: try stored(values.5),
                    app: values.7,
                    environment: try stored(values.8),
                    attemptNumber: Int(values.6),
                    requestId: "live-start:\(values.0)"
                )
                return LostAttempt(identity, startedAt: values.4)
            }
        }
    }
}

enum StartQueries {
    static func claim(
        _ subject: LiveSubject,
        _ policy: StartPolicy,
        _ channels: ChannelPolicy,
        limit: Int,
        except excluded: Set<AppEnvironment>,
        now: Timestamp
    ) -> Query {
        let isMatch = !subject.id.contains("/")
        let fence: Query =
            isMatch
            ? "EXISTS (SELECT 1 FROM activeMatches WHERE matchId = \(subject.id) AND epoch = \(subject.epoch))"
            : "EXISTS (SELECT 1 FROM activitySubjects WHERE subject = \(subject.id) AND epoch = \(subject.epoch))"
        // A follow that ended meanwhile never yields a start.
        let wanted: Query = isMatch ? "EXISTS (SELECT 1 FROM follows f WHERE f.userId = a.userId AND f.matchId = a.matchId)" : "true"
        // Only matches have channels.
        let waits: Query = isMatch ? ChannelQueries.waits(channels, now: now) : "false"
        return """
            WITH due AS MATERIALIZED (
                SELECT a.matchId, a.userId, a.deviceId, a.instance, s.token, s.hash, d.osVersion,
                    s.version, c.channelId
                FROM liveActivities a JOIN devices d ON d.userId = a.userId AND d.deviceId = a.deviceId
                \(StartTargets.token(for: "a.attributesType"))
                \(ChannelQueries.join(channels))
                WHERE a.matchId = \(subject.id) AND a.status = 'pending' AND a.nextStartAt <= \(now) AND \(fence) AND \(wanted)
                  AND \(excluded.exclusion(of: "a"))
                  AND \(StartTargets.usable(at: now)) AND NOT \(waits)
                  AND (SELECT count(*) FILTER (WHERE e.claimedAt > \(now) - interval '1 hour') < \(policy.perHour)
                          AND count(*) < \(policy.perDay)
                       FROM activityStarts e WHERE e.deviceId = a.deviceId AND e.claimedAt > \(now) - interval '1 day'
                         AND e.outcome IS DISTINCT FROM 'rejected')
                ORDER BY a.startOrder LIMIT \(limit) FOR UPDATE OF a SKIP LOCKED
            ), claimed AS (
                UPDATE liveActivities a SET startAttempts = startAttempts + 1, startsDelivered = startsDelivered + 1, startSentAt = \(now),
                    nextStartAt = CASE WHEN startsDelivered + 1 < \(policy.deliveredLimit) THEN \(now + policy.grace) END
                FROM due WHERE a.matchId = due.matchId AND a.userId = due.userId AND a.deviceId = due.deviceId
                  AND a.instance = due.instance
                RETURNING a.userId, a.deviceId, a.instance, a.startAttempts, a.startsDelivered, a.app, a.environment, due.osVersion,
                    due.token, due.hash, due.version, due.channelId, a.startOrder
            ), noted AS (
                INSERT INTO activityStarts (matchId, userId, deviceId, instance, claimedAt, tokenHash, attemptNumber, byChannel)
                SELECT \(subject.id), userId, deviceId, instance, \(now), hash, startAttempts, channelId IS NOT NULL
                FROM claimed
                ORDER BY startOrder
                RETURNING startId, userId, deviceId
            )
            SELECT c.userId, c.deviceId, c.instance, c.startAttempts, c.startsDelivered, c.app, c.environment, c.osVersion,
                c.token, c.hash, n.startId, c.version, c.channelId
            FROM claimed c JOIN noted n ON n.userId = c.userId AND n.deviceId = c.deviceId ORDER BY n.startId
            """
    }

    static func lost(before limit: Timestamp) -> Query {
        """
        WITH lost AS (
            UPDATE activityStarts SET outcome = 'unknown' WHERE startId IN (
                SELECT startId FROM activityStarts WHERE outcome IS NULL AND claimedAt < \(limit) LIMIT 500 FOR UPDATE SKIP LOCKED)
            RETURNING matchId, userId, deviceId, instance, claimedAt, tokenHash, attemptNumber
        )
        SELECT l.matchId, l.userId, l.deviceId, l.instance, l.claimedAt, l.tokenHash, l.attemptNumber, a.app, a.environment
        FROM lost l JOIN liveActivities a USING (matchId, userId, deviceId, instance)
        """
    }
}
