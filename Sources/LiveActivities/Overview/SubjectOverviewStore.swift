import Delivery
package import Postgres
import PushContract

/// What is known of one subject, whatever its type: its state, and what each device shows. Safe to use from any task.
package struct SubjectOverviewStore: Sendable {
    let pool: PostgresPool

    package init(pool: PostgresPool) { self.pool = pool }

    struct Subject: Sendable {
        var phase: String
        var isLive: Bool
        var contentState: String
        var seq: Int64
        var timestamp: Int64
        var builtAt: Timestamp
        /// Nil: nothing confirms it.
        var source: (freshness: Freshness, silentAfter: Duration)?
        var endedAt: Timestamp?
        var followers: Int
        var active: Int
        var pending: Int
        var ended: Int
    }

    /// One device of a follower, or one that has or had an activity; without a device a follower who has none.
    struct Entry: Sendable {
        var userId: String
        /// "" if there is none.
        var deviceId: String
        var isFollowing: Bool
        var activity: SubjectStatus.Activity?
        var endCause: String?
        var device: SubjectStatus.Device?
        var platform: Platform?
        var push: PushStatus?
    }

    /// Nil: there is no such subject.
    func find(_ subject: String, now: Timestamp) async throws -> Subject? {
        try await pool.query(
            """
            SELECT m.phase, m.isLive, m.contentState, m.seq, m.stateTimestamp, m.stateBuiltAt, s.confirmedAt, s.freshFor,
                s.silentAfter, m.endedAt,
                (SELECT count(*) FROM follows f WHERE f.matchId = m.subject AND coalesce(f.expiresAt, 'infinity') > \(now)),
                c.active, c.pending, c.ended
            FROM liveSubjects m LEFT JOIN subjectSources s ON s.subject = m.subject
            CROSS JOIN LATERAL (\(SubjectOverviewStore.counts)) c
            WHERE m.subject = \(subject)
            """
        ).first.map { row in
            let values = try row.decode(
                (
                    String, Bool, String, Int64, Int64, Timestamp, Timestamp?, Int32?, Int32?, Timestamp?, Int, Int, Int, Int
                ).self
            )
            let freshness = values.6.flatMap { Freshness(confirmedAt: $0, seconds: values.7) }
            return Subject(
                phase: values.0,
                isLive: values.1,
                contentState: values.2,
                seq: values.3,
                timestamp: values.4,
                builtAt: values.5,
                source: freshness.map { ($0, .seconds(Int64(values.8 ?? 0))) },
                endedAt: values.9,
                followers: values.10,
                active: values.11,
                pending: values.12,
                ended: values.13
            )
        }
    }

    /// Devices in the order of users and devices.
    ///
    /// - Parameters:
    ///   - cursor: of the last entry of the page before.
    ///   - userId: only of this user.
    func devices(
        of subject: String,
        type: String,
        after cursor: (userId: String, deviceId: String),
        userId: String?,
        limit: Int,
        now: Timestamp
    ) async throws -> [Entry] {
        try await pool.query(
            """
            SELECT k.userId, k.deviceId, EXISTS (SELECT FROM follows f WHERE f.userId = k.userId AND f.matchId = \(subject)),
                d.platform = 'ios' AND d.provider = 'apns', d.canStart, a.instance, a.status, a.endReason, a.endCause, a.createdAt,
                a.nextStartAt, a.startAcceptedAt, a.activatedAt, a.endedAt, a.lastTimestamp, a.lastSentAt, a.isQueued,
                d.platform, d.hasToken, p.sendId, p.state, p.createdAt, p.finishedAt, p.reasonCode, p.providerErrorCode,
                q.timestamp, q.finishedAt, q.isEnd
            FROM (
                SELECT f.userId, coalesce(d.deviceId, '') AS deviceId FROM follows f
                LEFT JOIN devices d ON d.userId = f.userId AND d.deviceId = coalesce(f.onlyDeviceId, d.deviceId) AND d.expiresAt > \(now)
                WHERE f.matchId = \(subject) AND coalesce(f.expiresAt, 'infinity') > \(now)
                UNION SELECT userId, deviceId FROM liveActivities WHERE matchId = \(subject)
                ORDER BY 1, 2
            ) k
            LEFT JOIN LATERAL (
                SELECT d.platform, d.provider, d.tokenState <> 'inactive' AS hasToken, \(StartTargets.usable(at: now)) AS canStart
                FROM devices d \(StartTargets.token(for: "\(type)"))
                WHERE d.userId = k.userId AND d.deviceId = k.deviceId AND d.expiresAt > \(now)
            ) d ON true
            LEFT JOIN LATERAL (
                SELECT i.*, greatest(i.lastTimestampSent, c.lastTimestampSent) AS lastTimestamp,
                    EXISTS (SELECT FROM activityStarts s WHERE s.deviceId = i.deviceId AND s.matchId = i.matchId AND s.userId = i.userId
                        AND s.instance = i.instance AND s.outcome IS NULL) AS isQueued
                FROM liveActivities i
                LEFT JOIN activityChannels c ON c.matchId = i.matchId AND c.app = i.app AND c.environment = i.environment
                    AND c.channelId = i.channelId
                WHERE i.matchId = \(subject) AND i.userId = k.userId AND i.deviceId = k.deviceId
                ORDER BY (i.status = 'active') DESC, i.instance DESC LIMIT 1
            ) a ON true
            LEFT JOIN LATERAL (
                SELECT p.sendId, CASE p.state WHEN 'ready' THEN 'queued' ELSE p.state END AS state, p.createdAt, p.finishedAt, p.reasonCode,
                    p.providerErrorCode
                FROM pushDeliveryStates p
                WHERE p.uid = k.userId AND p.deviceId = k.deviceId AND \(OtherDevicesQueries.isOf(subject, "p.sendId"))
                ORDER BY p.createdAt DESC, p.deliveryId DESC LIMIT 1
            ) p ON true
            LEFT JOIN LATERAL (
                SELECT split_part(p.sendId, '~', 4)::bigint AS timestamp, p.finishedAt, split_part(p.sendId, '~', 5) = 'end' AS isEnd
                FROM pushDeliveryStates p
                WHERE p.state = 'sent' AND p.uid = k.userId AND p.deviceId = k.deviceId AND \(OtherDevicesQueries.isOf(subject, "p.sendId"))
                ORDER BY p.createdAt DESC, p.deliveryId DESC LIMIT 1
            ) q ON true
            WHERE (k.userId, k.deviceId) > (\(cursor.userId), \(cursor.deviceId)) AND (\(userId)::text IS NULL OR k.userId = \(userId))
            ORDER BY k.userId, k.deviceId LIMIT \(limit)
            """
        ).map(SubjectOverviewStore.entry)
    }

    private static func entry(_ row: Row) throws -> Entry {
        let values = try row.decode(
            (
                String, String, Bool, Bool?, Bool?, Int32?, String?, String?, String?, Timestamp?, Timestamp?, Timestamp?, Timestamp?,
                Timestamp?, Int64?, Timestamp?, Bool?, String?, Bool?, String?, String?, Timestamp?, Timestamp?, String?, String?, Int64?,
                Timestamp?, Bool?
            ).self
        )
        var entry = Entry(userId: values.0, deviceId: values.1, isFollowing: values.2, endCause: values.8)
        if let isSupported = values.3 { entry.device = SubjectStatus.Device(isSupported: isSupported, canStart: values.4 ?? false) }
        if let platform = values.17, let hasToken = values.18 {
            entry.platform = try stored(platform)
            var push = PushStatus(sentTimestamp: values.25, sentAt: values.26, sentEnd: values.27 ?? false, hasToken: hasToken)
            if let sendId = values.19, let state = values.20, let at = values.21 {
                push.newest = PushStatus.Delivery(
                    sendId: sendId,
                    state: state,
                    at: at,
                    finishedAt: values.22,
                    reasonCode: values.23,
                    providerErrorCode: values.24
                )
            }
            entry.push = push
        }
        if let instance = values.5, let status = values.6, let createdAt = values.9 {
            entry.activity = SubjectStatus.Activity(
                instance: Int(instance),
                status: try stored(status),
                endReason: try values.7.map { try stored($0) },
                createdAt: createdAt,
                nextStartAt: values.10,
                startAcceptedAt: values.11,
                activatedAt: values.12,
                endedAt: values.13,
                lastTimestamp: values.14 ?? 0,
                lastSentAt: values.15,
                isQueued: values.16 ?? false
            )
        }
        return entry
    }
}
