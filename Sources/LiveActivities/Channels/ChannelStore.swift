package import Delivery
package import Postgres
import Providers
package import PushContract

/// Broadcast channels in PostgreSQL: which are wanted, which there are, and what is due for them. Safe to use from any task.
///
/// Each request is claimed before it is made: so a channel is made once with any number of instances, and what a dead
/// process took on itself is taken up by another.
package struct ChannelStore: Sendable {
    let pool: PostgresPool
    let policy: ChannelPolicy

    package init(pool: PostgresPool, policy: ChannelPolicy = ChannelPolicy()) {
        self.pool = pool
        self.policy = policy
    }

    /// Wants a channel for each app and environment in which a device waits that can listen to one; how many are new.
    func requestMissing(_ subjects: [String], now: Timestamp) async throws -> Int {
        guard policy.makesChannels, !subjects.isEmpty else { return 0 }
        let appEnvironments = try await pool.query(
            """
            SELECT DISTINCT a.matchId, a.app, a.environment FROM liveActivities a
            JOIN devices d ON d.userId = a.userId AND d.deviceId = a.deviceId
            WHERE a.matchId = ANY(\(subjects)) AND a.status = 'pending' AND a.nextStartAt IS NOT NULL AND \(ChannelQueries.canListen)
              AND NOT EXISTS (SELECT FROM activityChannels c
                  WHERE c.matchId = a.matchId AND c.app = a.app AND c.environment = a.environment)
            """
        ).map { try $0.decode((String, String, String).self) }
        guard !appEnvironments.isEmpty else { return 0 }
        return try await pool.performTransaction { [policy] connection in
            let columns: Query = "\(appEnvironments.map(\.0)), \(appEnvironments.map(\.1)), \(appEnvironments.map(\.2))"
            try connection.execute(ChannelQueries.open(columns, now: now))
            return try connection.execute(ChannelQueries.requestMissing(columns, policy, now: now))
        }
    }

    /// Takes what is due, each for `policy.lease`.
    ///
    /// - Parameter kept: places to be left out.
    package func claim(limit: Int, except excluded: Set<AppEnvironment> = [], now: Timestamp) async throws -> [ChannelClaim] {
        guard limit > 0, try await pool.query(ChannelQueries.isDue(policy, now: now))[0].decode(Bool.self) else { return [] }
        var claims = try await pool.query(ChannelQueries.claimMaking(policy, limit: limit, except: excluded, now: now)).map { row in
            let (key, attempts) = try ChannelKey.read(try row.decode((String, String, String, Int32).self))
            return ChannelClaim.make(key, attempts: Int(attempts))
        }
        claims += try await pool.query(ChannelQueries.claimEnds(policy, limit: limit, except: excluded, now: now)).map { row in
            let values = try row.decode((String, String, String, String, Int64, Int32, Int32, Timestamp).self)
            let (key, id) = try ChannelKey.read((values.0, values.1, values.2, values.3))
            return .end(key, id: id, lastTimestamp: values.4, attempts: Int(values.5), sent: Int(values.6), retiredAt: values.7)
        }
        claims += try await pool.query(ChannelQueries.claimDeletions(policy, limit: limit, except: excluded, now: now)).map { row in
            let values = try row.decode((String, String, String, String, Int32).self)
            let (key, id) = try ChannelKey.read((values.0, values.1, values.2, values.3))
            return .delete(key, id: id, attempts: Int(values.4))
        }
        claims += try await pool.query(ChannelQueries.claimOrphans(policy, limit: limit, except: excluded, now: now)).map { row in
            let (app, environment, id) = try row.decode((String, String, String).self)
            return .deleteOrphan(AppEnvironment(app: app, environment: try stored(environment)), id: id)
        }
        claims += try await pool.query(ChannelQueries.claimLists(policy, limit: limit, except: excluded, now: now)).map { row in
            let (app, environment) = try row.decode((String, String).self)
            return .list(AppEnvironment(app: app, environment: try stored(environment)))
        }
        return claims
    }

    /// The channels of a subject that is on, as members of its audience.
    package func recipients(of subject: String) async throws -> [Recipient] { try await recipients(behind: [(subject, Int64.max)]) }

    /// The same of several subjects, each with a timestamp: channels that were sent it, or a newer one, are left out.
    package func recipients(behind states: [(subject: String, timestamp: Int64)]) async throws -> [Recipient] {
        guard !states.isEmpty else { return [] }
        return try await pool.query(
            """
            SELECT c.matchId, c.app, c.environment, c.channelId, c.lastTimestampSent, c.boundaryBudgetFullAt
            FROM unnest(\(states.map(\.subject)), \(states.map(\.timestamp))) AS s(subject, timestamp)
            JOIN activityChannels c ON c.matchId = s.subject
            WHERE c.channelId IS NOT NULL AND c.retiredAt IS NULL AND c.lastTimestampSent < s.timestamp
            """
        ).map { row in
            let (subject, app, environment, id, last, budget) = try row.decode((String, String, String, String, Int64, Timestamp?).self)
            var recipient = Recipient(
                ChannelKey(subject: subject, appEnvironment: AppEnvironment(app: app, environment: try stored(environment))),
                channel: BroadcastChannel(id: id, storage: ChannelPolicy.storage),
                lastTimestamp: last
            )
            recipient.budgetFullAt = budget
            return recipient
        }
    }

    /// Channels to which the newest state is to be sent once more, since a phone may have begun to listen after it.
    func takeCatchUps(of matches: [String], now: Timestamp) async throws -> [ChannelKey] {
        guard policy.makesChannels, !matches.isEmpty else { return [] }
        return try await pool.query(
            """
            UPDATE activityChannels SET catchUpAt = NULL WHERE matchId = ANY(\(matches)) AND catchUpAt <= \(now)
            RETURNING matchId, app, environment
            """
        ).map { row in
            let (matchId, app, environment) = try row.decode((String, String, String).self)
            return ChannelKey(subject: matchId, appEnvironment: AppEnvironment(app: app, environment: try stored(environment)))
        }
    }

    /// Channels whose subject is gone, also those whose end is not over: there is no state left to send. And rows that came to nothing.
    package func sweep(now: Timestamp) async throws {
        try await pool.execute(
            """
            UPDATE activityChannels c SET retiredAt = coalesce(retiredAt, \(now)), endDueAt = NULL,
                deleteDueAt = CASE WHEN channelId IS NOT NULL THEN \(now)::timestamptz END
            WHERE (retiredAt IS NULL OR (channelId IS NOT NULL AND deleteDueAt IS NULL))
                AND NOT EXISTS (SELECT FROM liveSubjects m WHERE m.subject = c.matchId)
            """
        )
        // A process that may still be making one has lost it by then.
        try await pool.execute(
            "DELETE FROM activityChannels WHERE channelId IS NULL AND retiredAt < \(now - policy.lease * 2)"
        )
    }
}

extension ChannelKey {
    fileprivate static func read<Rest>(_ values: (String, String, String, Rest)) throws -> (ChannelKey, Rest) {
        (ChannelKey(subject: values.0, appEnvironment: AppEnvironment(app: values.1, environment: try stored(values.2))), values.3)
    }
}
