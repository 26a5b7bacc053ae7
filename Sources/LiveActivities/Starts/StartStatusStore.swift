import Delivery
package import Postgres
package import PushContract

/// Reads the state of the activities of what a user follows on each device. Safe to use from any task.
package struct StartStatusStore: Sendable {
    private let pool: PostgresPool
    private let policy: StartPolicy
    private let types: AttributesTypes

    package init(pool: PostgresPool, policy: StartPolicy = StartPolicy(), types: AttributesTypes = AttributesTypes()) {
        self.types = types
        self.pool = pool
        self.policy = policy
    }

    /// In the order of following, then by device.
    ///
    /// - Parameters:
    ///   - subject: of this one alone; those that go before it count all the same.
    ///   - deviceId: on this device alone.
    package func statuses(
        of userId: String,
        subject: String? = nil,
        deviceId: String? = nil,
        now: Timestamp
    ) async throws -> [StartStatus] {
        let followed = try await followed(userId, deviceId, now: now)
        let starts = try await starts(of: Set(followed.map(\.deviceId)).sorted(), now: now)
        let byDevice = Dictionary(grouping: followed, by: \.deviceId).mapValues { all in
            FollowedActivity.statuses(all, starts: starts[all[0].deviceId] ?? [], policy, now: now)
        }
        let position = Dictionary(followed.map { ($0.subject, $0.followedAt) }, uniquingKeysWith: { first, _ in first })
        return byDevice.values.joined().filter { subject == nil || $0.subject == subject }.sorted {
            (position[$0.subject] ?? now, $0.subject, $0.deviceId) < (position[$1.subject] ?? now, $1.subject, $1.deviceId)
        }
    }

    private func starts(of devices: [String], now: Timestamp) async throws -> [String: [Timestamp]] {
        guard !devices.isEmpty else { return [:] }
        let rows = try await pool.query(
            """
            SELECT e.deviceId, e.claimedAt FROM activityStarts e WHERE e.deviceId = ANY(\(devices)) AND \(StartOrder.counts(now: now))
            """
        ).map { try $0.decode((String, Timestamp).self) }
        return Dictionary(grouping: rows, by: \.0).mapValues { $0.map(\.1) }
    }

    private func followed(_ userId: String, _ deviceId: String?, now: Timestamp) async throws -> [FollowedActivity] {
        try await pool.query(
            """
            SELECT f.matchId, d.deviceId, coalesce(m.startPriority, \(StartOrder.usualPriority))::smallint, \(StartOrder.position),
                f.followedAt, coalesce(m.isLive, false), \(Freshness.isFresh(now: now)),
                d.platform = 'ios' AND coalesce(\(StartTargets.usable(at: now)), false),
                CASE WHEN coalesce(m.phase, 'scheduled') = 'scheduled' THEN m.startsAt END, last.status::text, last.endReason,
                coalesce(last.nextStartAt, \(PendingActivities.restartsAt(policy))), last.startSentAt, last.activatedAt,
                coalesce(last.endedAt, m.endedAt), coalesce(last.startsDelivered > 0, false), d.platform, d.tokenState <> 'inactive',
                m.endedAt IS NOT NULL, coalesce(last.status = 'ended' AND \(PendingActivities.isRestarted(policy)), false)
            FROM follows f
            JOIN devices d ON d.userId = f.userId AND d.deviceId = coalesce(f.onlyDeviceId, d.deviceId) AND d.expiresAt > \(now)
            LEFT JOIN liveSubjects m ON m.subject = f.matchId
            \(StartTargets.token(for: "coalesce(m.attributesType, \(MatchSubject.attributesType))"))
            LEFT JOIN LATERAL (
                SELECT * FROM liveActivities l WHERE l.matchId = f.matchId AND l.userId = f.userId AND l.deviceId = d.deviceId
                ORDER BY l.status = 'active' DESC, l.instance DESC LIMIT 1
            ) last ON true
            \(PendingActivities.deadTokens(now: now))
            WHERE f.userId = \(userId) AND coalesce(f.expiresAt, 'infinity') > \(now)
              AND (\(deviceId)::text IS NULL OR d.deviceId = \(deviceId))
            """
        ).map { row in
            let values = try row.decode(
                (
                    String, String, Int16, Int16, Timestamp, Bool, Bool, Bool, Timestamp?, String?, String?, Timestamp?, Timestamp?,
                    Timestamp?, Timestamp?, Bool, String, Bool, Bool, Bool
                ).self
            )
            let status = values.9.flatMap(ActivityStatus.init)
            let receives = DeviceReceives(
                try stored(values.16),
                showsActivities: values.7 || status == .active || status == .pending,
                types.policy(of: NamedSubject(subject: values.0).type)
            )
            return FollowedActivity(
                subject: values.0,
                deviceId: values.1,
                isRepeated: values.15,
                priority: values.2,
                position: values.3,
                followedAt: values.4,
                isLive: values.5,
                isOver: values.18,
                isFresh: values.6,
                isUsable: values.7,
                receives: receives,
                isIOS: values.16 == Platform.ios.rawValue,
                hasPushToken: values.17,
                plannedAt: values.8,
                status: status,
                endReason: values.10,
                nextStartAt: values.11,
                startSentAt: values.12,
                activatedAt: values.13,
                endedAt: values.14,
                isRestarted: values.19
            )
        }
    }
}
