import Delivery
import Postgres
package import PushContract

/// How many channels there are, and how many there may be, for people to look at.
package struct ChannelOverview: Encodable, Sendable {
    package var mode: String
    /// Of one app and environment.
    package var limit: Int
    package var scopes: [Scope]
    package var channels: [Channel]

    /// An app in one environment.
    package struct Scope: Encodable, Sendable, Hashable {
        package var app: String
        package var environment: String
        /// What the provider listed last, and what was made since; nil: it was not asked yet.
        package var count: Int?
        /// Of those listed, what belongs to no match here.
        package var unknown: Int?
        var listedAt: Timestamp?
        /// No channel is made until then; activities are updated by tokens.
        package var pausedUntil: Timestamp?
        /// The provider's code.
        package var refusal: String?
    }

    /// A channel of one match.
    package struct Channel: Encodable, Sendable, Hashable {
        package var matchId: String
        package var app: String
        package var environment: String
        /// `wanted`, `open`, `ending` or `deleting`.
        package var state: String
        package var createdAt: Timestamp
        package var lastSentAt: Timestamp?
        /// Running activities that listen to it.
        package var activities: Int
        package var refusal: String?
    }
}

extension ChannelStore {
    package func overview() async throws -> ChannelOverview {
        ChannelOverview(
            mode: policy.mode.rawValue,
            limit: policy.limit,
            scopes: try await scopes(),
            channels: try await pool.query(
                """
                SELECT c.matchId, c.app, c.environment,
                    CASE WHEN c.deleteDueAt IS NOT NULL THEN 'deleting' WHEN c.retiredAt IS NOT NULL THEN 'ending'
                        WHEN c.channelId IS NOT NULL THEN 'open' ELSE 'wanted' END,
                    c.createdAt, c.lastSentAt,
                    (SELECT count(*) FROM liveActivities a WHERE a.matchId = c.matchId AND a.channelId = c.channelId AND a.status <> 'ended'),
                    c.refusal
                FROM activityChannels c ORDER BY c.createdAt DESC, c.matchId, c.app, c.environment LIMIT 200
                """
            ).map { row in
                let values = try row.decode((String, String, String, String, Timestamp, Timestamp?, Int, String?).self)
                return ChannelOverview.Channel(
                    matchId: values.0,
                    app: values.1,
                    environment: values.2,
                    state: values.3,
                    createdAt: values.4,
                    lastSentAt: values.5,
                    activities: values.6,
                    refusal: values.7
                )
            }
        )
    }

    package func scopes() async throws -> [ChannelOverview.Scope] {
        try await pool.query(
            """
            SELECT s.app, s.environment, s.channels + (SELECT count(*) FROM activityChannels m WHERE m.app = s.app
                AND m.environment = s.environment AND m.channelId IS NOT NULL AND m.createdAt > s.listedAt)::integer,
                s.unknown, s.listedAt, s.pausedUntil, s.refusal
            FROM activityChannelScopes s ORDER BY s.app, s.environment
            """
        ).map { row in
            let values = try row.decode((String, String, Int32?, Int32?, Timestamp?, Timestamp?, String?).self)
            return ChannelOverview.Scope(
                app: values.0,
                environment: values.1,
                count: values.2.map(Int.init),
                unknown: values.3.map(Int.init),
                listedAt: values.4,
                pausedUntil: values.5,
                refusal: values.6
            )
        }
    }
}
