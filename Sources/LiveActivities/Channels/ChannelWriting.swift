import Delivery
import Postgres
import PushContract

/// Writes what requests about channels came to. Inside the transaction of their attempts.
enum ChannelWriting {
    static func apply(_ effects: [ChannelEffect], policy: ChannelPolicy, on connection: BlockingConnection, now: Timestamp) throws {
        for effect in effects {
            switch effect {
            case .made(let key, let id): try made(key, id, on: connection, now: now)
            case .notMade(let key, let refusal, let retryAt, let pausedUntil):
                try connection.execute(
                    """
                    UPDATE activityChannels SET createDueAt = \(retryAt), refusal = \(refusal),
                        waitUntil = CASE WHEN \(retryAt) < waitUntil THEN waitUntil END
                    WHERE \(match(key)) AND channelId IS NULL
                    """
                )
                if let pausedUntil { try shut(key.appEnvironment, refusal, until: pausedUntil, on: connection, now: now) }
            case .sent(let key, let id, let timestamp, let hash, let budget):
                try connection.execute(
                    """
                    UPDATE activityChannels SET lastTimestampSent = \(timestamp), lastStateHash = \(hash), lastSentAt = \(now),
                        boundaryBudgetFullAt = greatest(boundaryBudgetFullAt, \(budget)::timestamptz)
                    WHERE \(match(key)) AND channelId = \(id) AND lastTimestampSent <= \(timestamp)
                    """
                )
            case .gone(let key, let id): try gone(key, id, policy, on: connection, now: now)
            case .ended(let key, let id, let sent, let nextAt):
                try connection.execute(
                    """
                    UPDATE activityChannels SET endDueAt = \(nextAt), endsSent = \(sent),
                        endAttempts = CASE WHEN endsSent < \(sent) THEN 0 ELSE endAttempts END,
                        deleteDueAt = CASE WHEN \(nextAt)::timestamptz IS NULL THEN \(now) ELSE deleteDueAt END
                    WHERE \(match(key)) AND channelId = \(id)
                    """
                )
            case .deleted(let appEnvironment, let id): try deleted(appEnvironment, id, on: connection)
            case .notDeleted(let appEnvironment, let id, let retryAt):
                for table in ["activityChannels", "activityChannelOrphans"] {
                    try connection.execute(
                        "UPDATE \(raw: table) SET deleteDueAt = \(retryAt) WHERE \(at(appEnvironment)) AND channelId = \(id) AND deleteDueAt IS NOT NULL"
                    )
                }
            case .listed(let appEnvironment, let ids, let askedAt):
                try ChannelListing.apply(ids, at: appEnvironment, askedAt: askedAt, policy: policy, on: connection, now: now)
            case .notListed(let appEnvironment, let refusal):
                try connection.execute("UPDATE activityChannelScopes SET refusal = \(refusal) WHERE \(at(appEnvironment))")
            case .postponed(let claim, let until): try postpone(claim, until: until, on: connection)
            }
        }
    }

    static func match(_ key: ChannelKey) -> Query { "matchId = \(key.subject) AND \(at(key.appEnvironment))" }

    static func at(_ appEnvironment: AppEnvironment) -> Query {
        "app = \(appEnvironment.app) AND environment = \(appEnvironment.environment.rawValue)::pushEnvironment"
    }

    /// Noted where it is wanted; one that came too late, because another was made or the match is over and forgotten, is deleted again.
    private static func made(_ key: ChannelKey, _ id: String, on connection: BlockingConnection, now: Timestamp) throws {
        let noted = try connection.execute(
            """
            UPDATE activityChannels SET channelId = \(id), createdAt = \(now), createDueAt = NULL, waitUntil = NULL, refusal = NULL,
                lastTimestampSent = 0, deleteDueAt = CASE WHEN retiredAt IS NOT NULL THEN \(now) END
            WHERE \(match(key)) AND channelId IS NULL
            """
        )
        if noted == 1 {
            return _ = try connection.execute(
                "UPDATE activityChannelScopes SET refusal = NULL, pausedUntil = NULL WHERE \(at(key.appEnvironment))"
            )
        }
        try connection.execute(
            """
            INSERT INTO activityChannelOrphans (app, environment, channelId, seenAt, deleteDueAt)
            SELECT \(key.appEnvironment.app), \(key.appEnvironment.environment.rawValue)::pushEnvironment, \(id), \(now), \(now)
            WHERE NOT EXISTS (SELECT FROM activityChannels WHERE \(at(key.appEnvironment)) AND channelId = \(id))
            ON CONFLICT DO NOTHING
            """
        )
    }

    /// And looks at what there is: it may be a matter of leftovers.
    private static func shut(
        _ appEnvironment: AppEnvironment,
        _ refusal: String,
        until: Timestamp,
        on connection: BlockingConnection,
        now: Timestamp
    ) throws {
        try connection.execute(
            """
            UPDATE activityChannelScopes SET pausedUntil = \(until), refusal = \(refusal), listDueAt = least(listDueAt, \(now))
            WHERE \(at(appEnvironment))
            """
        )
        // No start waits for a channel that does not come.
        try connection.execute("UPDATE activityChannels SET waitUntil = NULL WHERE \(at(appEnvironment)) AND channelId IS NULL")
    }

    /// What listened to it goes on with its token if it has one; else it is started anew, as after a dead token.
    static func gone(_ key: ChannelKey, _ id: String, _ policy: ChannelPolicy, on connection: BlockingConnection, now: Timestamp) throws {
        let retryAt = now + ChannelDecision.wait(after: 2, nil)
        let lost = try connection.execute(
            """
            UPDATE activityChannels SET channelId = NULL, refusal = 'ChannelNotRegistered', createDueAt = \(retryAt),
                waitUntil = CASE WHEN retiredAt IS NULL THEN \(retryAt + policy.tokenDelay) END, endDueAt = NULL, deleteDueAt = NULL
            WHERE \(match(key)) AND channelId = \(id)
            """
        )
        guard lost == 1 else { return }
        let listening: Query = "\(match(key)) AND channelId = \(id) AND status = 'active'"
        try connection.execute("UPDATE liveActivities SET channelId = NULL WHERE \(listening) AND updateToken IS NOT NULL")
        try connection.execute(
            """
            UPDATE liveActivities SET status = 'ended', endReason = \(EndReason.tokenInvalid.rawValue), endCause = 'channel_gone',
                endedAt = \(now), nextStartAt = NULL
            WHERE \(listening)
            """
        )
    }

    private static func deleted(_ appEnvironment: AppEnvironment, _ id: String, on connection: BlockingConnection) throws {
        for table in ["activityChannels", "activityChannelOrphans"] {
            try connection.execute(
                "DELETE FROM \(raw: table) WHERE \(at(appEnvironment)) AND channelId = \(id) AND deleteDueAt IS NOT NULL"
            )
        }
        try connection.execute(
            "UPDATE activityChannelScopes SET channels = greatest(channels - 1, 0) WHERE \(at(appEnvironment)) AND channels IS NOT NULL"
        )
    }

    private static func postpone(_ claim: ChannelClaim, until: Timestamp, on connection: BlockingConnection) throws {
        switch claim {
        case .make(let key, _):
            try connection.execute(
                "UPDATE activityChannels SET createDueAt = \(until), createAttempts = createAttempts - 1 WHERE \(match(key)) AND channelId IS NULL"
            )
        case .end(let key, let id, _, _, _, _):
            try connection.execute("UPDATE activityChannels SET endDueAt = \(until) WHERE \(match(key)) AND channelId = \(id)")
        case .delete(let key, let id, _):
            try connection.execute("UPDATE activityChannels SET deleteDueAt = \(until) WHERE \(match(key)) AND channelId = \(id)")
        case .deleteOrphan(let appEnvironment, let id):
            try connection.execute(
                "UPDATE activityChannelOrphans SET deleteDueAt = \(until) WHERE \(at(appEnvironment)) AND channelId = \(id)"
            )
        case .list(let appEnvironment):
            try connection.execute("UPDATE activityChannelScopes SET listDueAt = \(until) WHERE \(at(appEnvironment))")
        }
    }
}
