import Delivery
import Postgres
import PushContract

/// Which starts are due. Safe to use from any task.
struct StartStore: Sendable {
    private let pool: PostgresPool
    private let policy: StartPolicy
    private let channels: ChannelPolicy

    init(pool: PostgresPool, policy: StartPolicy = StartPolicy(), channels: ChannelPolicy = ChannelPolicy()) {
        self.pool = pool
        self.policy = policy
        self.channels = channels
    }

    /// Those of the subjects that have a due start, the most important first.
    func due(_ subjects: [String], now: Timestamp) async throws -> [String] {
        guard !subjects.isEmpty else { return [] }
        return try await pool.query(
            """
            SELECT m.subject FROM liveSubjects m WHERE m.subject = ANY(\(subjects))
                AND EXISTS (SELECT FROM liveActivities a WHERE a.matchId = m.subject AND a.status = 'pending' AND a.nextStartAt <= \(now))
            ORDER BY m.startPriority, m.subject
            """
        ).map { try $0.decode(String.self) }
    }

    /// Puts up to `limit` due starts of a subject into the send queue, in the order of the devices' hashes; how many. None of these
    /// activities is due again before its start has come to an outcome.
    ///
    /// Nothing is done for an epoch that is no longer current. Beyond a device's budget the most important go first (`StartOrder`); the
    /// others are looked at again half a minute later.
    func enqueue(_ subject: LiveSubject, limit: Int, now: Timestamp) async throws -> Int {
        try await pool.performTransaction { [policy, channels] connection in
            let due = try connection.query(StartQueries.takeDue(subject, policy, channels, limit: limit, now: now)).map { row in
                let values = try row.decode((String, String, Int32, Int32, String, String, String).self)
                let key = ActivityKey(subject: subject.id, userId: values.0, deviceId: values.1, instance: Int(values.2))
                return (
                    key: key,
                    delivery: key.queued(
                        LiveStart.kind,
                        app: values.4,
                        environment: try stored(values.5),
                        deliveryClass: .high,
                        token: values.6,
                        attemptNumber: Int(values.3) + 1,
                        expiresAt: now + LiveStart.giveUpAfter
                    )
                )
            }
            guard !due.isEmpty else { return 0 }
            let ids = try DeliveryQueue.enqueue(due.map(\.delivery), now: now, on: connection)
            var keys = KeyColumns()
            for start in due { keys.append(start.key) }
            return try connection.execute(
                """
                INSERT INTO activityStarts (deliveryId, matchId, userId, deviceId, instance, claimedAt)
                SELECT *, \(now)::timestamptz FROM unnest(\(ids), \(keys.columns))
                """
            )
        }
    }
}

enum StartQueries {
    static func takeDue(
        _ subject: LiveSubject,
        _ policy: StartPolicy,
        _ channels: ChannelPolicy,
        limit: Int,
        now: Timestamp
    ) -> Query {
        let fence: Query = """
            EXISTS (SELECT 1 FROM liveSubjects m
                WHERE m.subject = \(subject.id) AND m.epoch = \(subject.epoch) AND \(Freshness.isFresh(now: now)))
            """
        // A follow that ended meanwhile never yields a start.
        let wanted: Query = "EXISTS (SELECT 1 FROM follows f WHERE f.userId = a.userId AND f.matchId = a.matchId)"
        let waits: Query = subject.usesChannels ? ChannelQueries.waits(channels, now: now) : "false"
        return """
            WITH candidates AS MATERIALIZED (
                SELECT a.matchId, a.userId, a.deviceId, a.instance, s.hash
                FROM liveActivities a JOIN devices d ON d.userId = a.userId AND d.deviceId = a.deviceId
                \(StartTargets.token(for: "a.attributesType"))
                WHERE a.matchId = \(subject.id) AND a.status = 'pending' AND a.nextStartAt <= \(now) AND \(fence) AND \(wanted)
                  AND \(StartTargets.usable(at: now)) AND NOT \(waits)
                ORDER BY a.startOrder LIMIT \(limit) FOR UPDATE OF a SKIP LOCKED
            ), \(StartOrder.ranking(subject.id, policy, now: now)), due AS (
                SELECT c.*, r.position <= free.starts AS isTaken
                FROM candidates c JOIN free ON free.deviceId = c.deviceId
                JOIN ranked r ON r.matchId = c.matchId AND r.userId = c.userId AND r.deviceId = c.deviceId AND r.instance = c.instance
            ), taken AS (
                UPDATE liveActivities a SET nextStartAt = CASE WHEN NOT due.isTaken THEN \(now + StartOrder.pause)::timestamptz END
                FROM due WHERE a.matchId = due.matchId AND a.userId = due.userId AND a.deviceId = due.deviceId
                  AND a.instance = due.instance
                RETURNING a.userId, a.deviceId, a.instance, a.startAttempts, a.app, a.environment, due.hash, a.startOrder, due.isTaken
            )
            SELECT userId, deviceId, instance, startAttempts, app, environment, hash FROM taken WHERE isTaken ORDER BY startOrder
            """
    }

    /// Until when the app may start the activity `a` by itself, as it has said since the activity was made; NULL: it has not.
    static func startsHereUntil(_ policy: StartPolicy) -> Query {
        """
        (SELECT f.startsHereAt + \(policy.grace.inSeconds) * interval '1 second' FROM follows f
            WHERE f.userId = a.userId AND f.matchId = a.matchId AND f.deviceId = a.deviceId AND f.startsHereAt >= a.createdAt)
        """
    }

    /// Starts that are pending wait for the app, which starts the activity by itself.
    static func postpone(_ subject: String, of userId: String, _ policy: StartPolicy) -> Query {
        """
        UPDATE liveActivities a SET nextStartAt = \(startsHereUntil(policy))
        WHERE a.matchId = \(subject) AND a.userId = \(userId) AND a.status = 'pending' AND a.nextStartAt < \(startsHereUntil(policy))
        """
    }

    /// Those that are still wanted, with the token and the channel they have now. What the device reports from now on may come of them.
    ///
    /// - Parameter deliveries: columns of deliveryId, the activity's key, and the hash of the token that the start was stored for.
    static func send(_ deliveries: Query, _ policy: StartPolicy, _ channels: ChannelPolicy, now: Timestamp) -> Query {
        """
        WITH due AS MATERIALIZED (
            SELECT o.deliveryId, a.matchId AS subject, a.userId, a.deviceId, a.instance, s.token, s.version, c.channelId, a.createdAt,
                \(AlertQueries.alertedThrough) AS alertedThrough
            FROM unnest(\(deliveries)) AS o(deliveryId, subject, userId, deviceId, instance, hash)
            JOIN liveActivities a ON \(KeyColumns.match)
            JOIN devices d ON d.userId = a.userId AND d.deviceId = a.deviceId
            \(StartTargets.token(for: "a.attributesType"))
            \(ChannelQueries.join(channels))
            WHERE a.status = 'pending' AND s.hash = o.hash AND \(StartTargets.usable(at: now))
              AND coalesce(\(startsHereUntil(policy)) <= \(now), true)
            ORDER BY a.startOrder FOR UPDATE OF a
        ), claimed AS (
            UPDATE activityStarts e SET claimedAt = \(now) FROM due WHERE e.deliveryId = due.deliveryId
        ), sent AS (
            UPDATE liveActivities a SET startSentAt = \(now) FROM due o WHERE \(KeyColumns.match)
        )
        SELECT deliveryId, token, version, channelId, createdAt, alertedThrough FROM due
        """
    }
}
