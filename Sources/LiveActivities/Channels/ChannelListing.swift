import Delivery
import Postgres
import PushContract

/// Compares what the provider lists with what is noted: the one way to find channels that were made and not noted, and noted and not there.
enum ChannelListing {
    static func apply(
        _ ids: [String],
        at appEnvironment: AppEnvironment,
        askedAt: Timestamp,
        policy: ChannelPolicy,
        on connection: BlockingConnection,
        now: Timestamp
    ) throws {
        let here = ChannelWriting.at(appEnvironment)
        // Those that a channel was made for since the question are missing from the answer, and fine.
        let lost = try connection.query(
            """
            SELECT matchId, channelId FROM activityChannels
            WHERE \(here) AND channelId IS NOT NULL AND createdAt < \(askedAt) AND channelId <> ALL(\(ids))
            """
        ).map { try $0.decode((String, String).self) }
        for (subject, id) in lost {
            try ChannelWriting.gone(ChannelKey(subject: subject, appEnvironment: appEnvironment), id, policy, on: connection, now: now)
        }
        try connection.execute(
            """
            INSERT INTO activityChannelOrphans (app, environment, channelId, seenAt)
            SELECT \(appEnvironment.app), \(appEnvironment.environment.rawValue)::pushEnvironment, l.id, \(now) FROM unnest(\(ids)) AS l(id)
            WHERE NOT EXISTS (SELECT FROM activityChannels m WHERE \(here) AND m.channelId = l.id)
            ON CONFLICT DO NOTHING
            """
        )
        try connection.execute(
            """
            DELETE FROM activityChannelOrphans s WHERE \(here) AND (channelId <> ALL(\(ids))
                OR EXISTS (SELECT FROM activityChannels m WHERE m.app = s.app AND m.environment = s.environment AND m.channelId = s.channelId))
            """
        )
        if policy.mode == .own {
            try connection.execute(
                """
                UPDATE activityChannelOrphans SET deleteDueAt = \(now)
                WHERE \(here) AND deleteDueAt IS NULL AND seenAt <= \(now - policy.orphanAge)
                """
            )
        }
        try connection.execute(
            """
            UPDATE activityChannelScopes SET listedAt = \(askedAt), channels = \(ids.count),
                unknown = (SELECT count(*) FROM activityChannelOrphans WHERE \(here)),
                refusal = CASE WHEN pausedUntil > \(now) THEN refusal END
            WHERE \(here)
            """
        )
    }
}
