package import Delivery
import Postgres
package import PushContract

/// An update token as an app posts it.
package struct TokenPost: Sendable {
    package var subject: String
    package var userId: String
    package var deviceId: String
    package var token: PushToken
    package var instance: Int?
}

extension ActivityStore {
    /// Stores the token where it belongs. Nil: the device is not registered.
    ///
    /// No push leaves here: an activity that just became active gets the current state from the fan-out, which looks for it.
    package func post(_ post: TokenPost, now: Timestamp) async throws -> TokenVerdict? {
        var tries = 1
        while true {
            do {
                return try await attemptPost(post, now: now)
            } catch let error as PostgresError where error.code == .uniqueViolation && tries < 4 {
                // The orchestrator made the activity's next instance meanwhile: seen from there the token has another place.
                tries += 1
            }
        }
    }

    private func attemptPost(_ post: TokenPost, now: Timestamp) async throws -> TokenVerdict? {
        try await pool.performTransaction { [cipher] connection in
            _ = try connection.query(TokenRegistry.lock(post.token.hash))
            _ = try connection.query(ActivityQueries.lock(subject: post.subject, userId: post.userId, deviceId: post.deviceId))
            let known = try connection.query(TokenQueries.device(post, now: now))
            guard let app = try known.first?.decode(String.self) else { return nil }
            try TokenRegistry.requireKind(
                .update,
                of: post.token.hash,
                provider: .apns,
                app: app,
                pointer: "/updateToken",
                on: connection
            )
            let rows = try connection.query(
                ActivityQueries.instances(subject: post.subject, userId: post.userId, deviceId: post.deviceId)
            )
            let history = ActivityHistory(try rows.map(ActivityInstance.init))
            let mayStart = try !connection.query(TokenQueries.mayStart(post)).isEmpty
            let verdict = history.verdict(on: post.token.hash, instance: post.instance, mayStart: mayStart, now: now)
            if verdict.storesToken { try TokenRegistry.revive(post.token.hash, on: connection) }
            try TokenQueries.apply(verdict, post, encrypted: try cipher.encrypt(post.token, as: .update), on: connection, now: now)
            return verdict
        }
    }
}

private enum TokenQueries {
    static func device(_ post: TokenPost, now: Timestamp) -> Query {
        "SELECT app FROM devices WHERE userId = \(post.userId) AND deviceId = \(post.deviceId) AND expiresAt > \(now)"
    }

    /// A follow of a live subject, newer than the last end unless that one may recover: after what `PendingActivities` starts again, too.
    static func mayStart(_ post: TokenPost) -> Query {
        """
        SELECT 1 FROM follows f JOIN liveSubjects m ON m.subject = f.matchId
        JOIN devices d ON d.userId = f.userId AND d.deviceId = coalesce(f.onlyDeviceId, d.deviceId)
        LEFT JOIN LATERAL (
            SELECT a.endReason, a.endCause, a.endedAt FROM liveActivities a
            WHERE a.matchId = f.matchId AND a.userId = f.userId AND a.deviceId = d.deviceId ORDER BY a.instance DESC LIMIT 1
        ) last ON true
        WHERE f.userId = \(post.userId) AND f.matchId = \(post.subject) AND d.deviceId = \(post.deviceId) AND m.isLive
          AND (last.endedAt IS NULL OR f.followedAt >= last.endedAt OR last.endReason IN ('token_invalid', 'stumps')
              OR (last.endCause = \(Freshness.cause) AND m.confirmedAt > last.endedAt)
              OR (last.endReason = 'device_unregistered' AND d.registeredAt > last.endedAt))
        """
    }

    static func apply(
        _ verdict: TokenVerdict,
        _ post: TokenPost,
        encrypted: String,
        on connection: BlockingConnection,
        now: Timestamp
    ) throws {
        switch verdict {
        case .unchanged, .activityEnded, .notFollowing: return
        case .rotate(let number):
            try takeFromOthers(post, number, on: connection, now: now)
            try connection.execute(
                """
                UPDATE liveActivities SET updateToken = \(encrypted), replacedTokenHash = updateTokenHash,
                    updateTokenHash = \(post.token.hash.rawValue), tokenRegisteredAt = \(now)
                WHERE \(key(post, number))
                """
            )
        case .adopt(let number, let replacing):
            try takeFromOthers(post, number, on: connection, now: now)
            if let replacing {
                try ActivityEnds.end(key(post, replacing), reason: .rolledOver, on: connection, now: now)
            }
            try connection.execute(activate(post, number, encrypted: encrypted, now: now))
            try connection.execute(
                """
                UPDATE activityStarts SET adoptedAt = \(now)
                WHERE deviceId = \(post.deviceId) AND matchId = \(post.subject) AND instance = \(number) AND adoptedAt IS NULL
                """
            )
        case .create(let number):
            try takeFromOthers(post, number, on: connection, now: now)
            try connection.execute(
                """
                INSERT INTO liveActivities (matchId, userId, deviceId, instance, status, attributesType, app, environment, updateToken,
                    updateTokenHash, tokenRegisteredAt, createdAt, activatedAt)
                SELECT m.subject, userId, deviceId, \(number), 'active', m.attributesType, app, environment, \(encrypted),
                    \(post.token.hash.rawValue), \(now), \(now), \(now)
                FROM devices, liveSubjects m
                WHERE userId = \(post.userId) AND deviceId = \(post.deviceId) AND m.subject = \(post.subject)
                """
            )
        }
    }

    /// The system's eight hours count from the start, and the token of a started activity may come long after it, with the person's Allow.
    /// A start of earlier than that is of another activity: this one was started by the app.
    private static func activate(_ post: TokenPost, _ number: Int, encrypted: String, now: Timestamp) -> Query {
        """
        UPDATE liveActivities SET status = 'active', updateToken = \(encrypted), updateTokenHash = \(post.token.hash.rawValue),
            tokenRegisteredAt = \(now), nextStartAt = NULL,
            activatedAt = CASE WHEN startsDelivered > 0 AND startSentAt > \(now - ActivityHistory.systemLimit) THEN startSentAt
                ELSE \(now) END
        WHERE \(key(post, number)) AND status = 'pending'
        """
    }

    /// A token belongs to one activity; who posted it last has it.
    private static func takeFromOthers(_ post: TokenPost, _ number: Int, on connection: BlockingConnection, now: Timestamp) throws {
        try connection.execute(
            """
            UPDATE liveActivities SET status = 'ended', endReason = 'device_unregistered', endedAt = \(now), nextStartAt = NULL
            WHERE updateTokenHash = \(post.token.hash.rawValue) AND status = 'active'
              AND (matchId, userId, deviceId, instance) <> (\(post.subject), \(post.userId), \(post.deviceId), \(number))
            """
        )
    }

    private static func key(_ post: TokenPost, _ number: Int) -> Query {
        "matchId = \(post.subject) AND userId = \(post.userId) AND deviceId = \(post.deviceId) AND instance = \(number)"
    }
}
