import Delivery
import Postgres
import PushContract

/// What an app reports when an activity went from the screen.
package struct Dismissal: Sendable {
    package var subject: String
    package var userId: String
    package var deviceId: String
    package var cause: DismissalCause
    package var instance: Int?

    package init(subject: String, userId: String, deviceId: String, cause: DismissalCause = .user, instance: Int? = nil) {
        self.subject = subject
        self.userId = userId
        self.deviceId = deviceId
        self.cause = cause
        self.instance = instance
    }
}

extension ActivityStore {
    /// Dismissal by the person is an unfollow on all of their devices; anything else leaves the follow.
    func dismiss(_ dismissal: Dismissal, now: Timestamp) async throws -> DismissalVerdict {
        try await pool.performTransaction { connection in
            _ = try connection.query(
                ActivityQueries.lock(subject: dismissal.subject, userId: dismissal.userId, deviceId: dismissal.deviceId)
            )
            let rows = try connection.query(
                ActivityQueries.instances(subject: dismissal.subject, userId: dismissal.userId, deviceId: dismissal.deviceId)
            )
            let history = ActivityHistory(try rows.map(ActivityInstance.init))
            let followedAt = try connection.query(
                "SELECT followedAt FROM follows WHERE userId = \(dismissal.userId) AND matchId = \(dismissal.subject)"
            ).first.map { try $0.decode(Timestamp.self) }
            let verdict = history.verdict(
                onDismissal: dismissal.cause,
                instance: dismissal.instance,
                followedAt: followedAt,
                now: now
            )
            switch verdict {
            case .unfollow:
                try FollowQueries.unfollow(
                    userId: dismissal.userId,
                    matchId: dismissal.subject,
                    reason: .userDismissed,
                    gone: dismissal.deviceId,
                    on: connection,
                    now: now
                )
            case .gone(let number):
                try connection.execute(
                    """
                    UPDATE liveActivities SET status = 'ended', endReason = 'token_invalid', endCause = 'stale', endedAt = \(now),
                        nextStartAt = NULL
                    WHERE matchId = \(dismissal.subject) AND userId = \(dismissal.userId) AND deviceId = \(dismissal.deviceId)
                      AND instance = \(number) AND status <> 'ended'
                    """
                )
            case .ignored: break
            }
            return verdict
        }
    }
}
