package import AlertRules
package import Foundation
package import Postgres
package import PushContract

/// A marked alert through every receiver, so that the way to on-call is known to work before it is needed.
///
/// It takes the way every alert takes: episode, transitions, outbox, courier. Only the evaluator is left out, and the routes.
package enum AlertDrill {
    package static let rule = "PushwatchDrill"

    /// One message to one receiver.
    package struct Leg: Sendable, Hashable, Encodable {
        package var receiver: String
        package var kind: String
        /// pending, delivered, parked, coalesced or undelivered.
        package var state: String
        package var attempts: Int
        /// From the transition to the end of the receiver's answer.
        package var latencyMs: Int?
        package var error: String?

        package var isSettled: Bool { state != "pending" }
    }

    /// Writes the alert for `receivers`. What an earlier drill left open is resolved first.
    package static func fire(
        receivers: [String],
        severity: Severity,
        author: String,
        at now: Timestamp,
        on pool: PostgresPool
    ) async throws -> UUID {
        let episode = episode(severity: severity, author: author, now: now)
        try await pool.withTransaction { transaction in
            let writer = EpisodeWriter(transaction: transaction, lease: lease, now: now)
            for left in try await EpisodeStore.open(rule: rule, on: transaction) {
                try await writer.resolve(ended(left, now), minute: Minute(now))
            }
            try await writer.fire(episode, reason: .conditionMet, minute: Minute(now), receivers: receivers)
        }
        return episode.id
    }

    /// Ends it: every receiver is told.
    package static func resolve(_ id: UUID, at now: Timestamp, on pool: PostgresPool) async throws {
        try await pool.withTransaction { transaction in
            guard let episode = try await EpisodeStore.episode(id, on: transaction), episode.state == .firing else { return }
            try await EpisodeWriter(transaction: transaction, lease: lease, now: now).resolve(ended(episode, now), minute: Minute(now))
        }
    }

    /// Where each message stands.
    package static func legs(of id: UUID, on session: any PostgresSession) async throws -> [Leg] {
        try await session.query(
            """
            SELECT receiver, kind, state, attempts::bigint, (extract(epoch FROM settledAt - createdAt) * 1000)::bigint, lastError
            FROM alertOutbox WHERE episodeId = \(id) ORDER BY receiver, seq
            """
        ).map {
            let (receiver, kind, state, attempts, latency, error) = try $0.decode((String, String, String, Int, Int?, String?).self)
            return Leg(receiver: receiver, kind: kind, state: state, attempts: attempts, latencyMs: latency, error: error)
        }
    }

    /// Receivers that were told of something since then.
    package static func receivers(toldSince: Timestamp, on session: any PostgresSession) async throws -> [String] {
        try await session.query("SELECT DISTINCT receiver FROM alertOutbox WHERE createdAt >= \(toldSince) ORDER BY receiver")
            .map { try $0.decode(String.self) }
    }

    /// No evaluator decided.
    private static let lease = AlertLease(name: "drill", holder: "drill", epoch: 0)

    private static func ended(_ episode: AlertEpisode, _ now: Timestamp) -> AlertEpisode {
        var episode = episode
        episode.state = .resolved
        episode.endsAt = now
        episode.resolvedAt = now
        episode.resolvedReason = "drill_over"
        return episode
    }

    private static func episode(severity: Severity, author: String, now: Timestamp) -> AlertEpisode {
        let window = WindowCounts(first: Minute(now) - 15, minutes: 15, counts: AttemptCounts(attempts: 0, bad: 0))
        return AlertEpisode(
            id: UUID(),
            rule: rule,
            ruleVersion: "drill",
            group: GroupKey(),
            labels: ["alertname": rule, "severity": severity.rawValue, "drill": "true"],
            severity: severity,
            state: .firing,
            startsAt: now,
            firedAt: now,
            detectedLateBySeconds: 0,
            evidence: Evidence(definition: "drill", level: .threshold, threshold: Fraction(5, 100), observed: window, worst: window),
            contributors: [],
            reproduceSQL: "SELECT 'a drill has no numbers' AS note;",
            annotations: [
                "summary": "DRILL: nothing is wrong; \(author) tests the way alerts take",
                "meaning": "If you can read this, alerts reach you here.",
                "action": "Nothing. It ends by itself.",
            ],
            revised: false
        )
    }
}
