import AlertRules
import Foundation
import Postgres
import PushContract

/// A message taken from the outbox, to be sent by one courier.
struct ClaimedMessage: Sendable {
    var message: AlertMessage
    /// Tries before this one.
    var attempts: Int
    /// The firing message of this lane was never tried.
    var isUnheardOf: Bool
    var resolvedAt: Timestamp?
}

/// What came of one try.
struct DeliveryOutcome: Sendable {
    enum Result: String, Sendable {
        case delivered, retry, parked, undelivered, coalesced
    }

    var result: Result
    var status: Int?
    var latency: Duration
    var responsePrefix: String?
    var error: String?
    var nextAttemptAt: Timestamp
}

/// The outbox: one ordered lane per episode and receiver.
enum OutboxStore {
    /// Takes the newest message of every lane that is due and that nobody holds, for `duration` by the database's clock.
    ///
    /// Older messages of the lane that still wait are told by the newest one: "firing" never follows "resolved".
    static func claim(
        lease: AlertLease,
        limit: Int,
        perReceiver: Int,
        for duration: Duration,
        externalURL: String,
        now: Timestamp,
        in transaction: any PostgresSession
    ) async throws -> [ClaimedMessage] {
        let seconds = Double(duration.components.seconds)
        let rows = try await transaction.query(
            """
            WITH lanes AS (
                SELECT episodeId, receiver, max(seq) AS seq, min(createdAt) AS createdAt, bool_and(nextAttemptAt <= \(now)) AS isDue,
                       bool_or(coalesce(leaseUntil > clock_timestamp(), false)) AS isHeld
                FROM alertOutbox WHERE state = 'pending'
                GROUP BY episodeId, receiver
            ), ranked AS (
                -- A receiver that hangs may fill its own places only.
                SELECT *, row_number() OVER (PARTITION BY receiver ORDER BY createdAt, episodeId)
                          + (SELECT count(*) FROM lanes held WHERE held.receiver = lanes.receiver AND held.isHeld) AS place
                FROM lanes WHERE isDue AND NOT isHeld
                  -- Silenced before it could be told: it waits for the end of the silence.
                  AND NOT EXISTS (SELECT FROM alertEpisodes e
                                  WHERE e.episodeId = lanes.episodeId AND e.silencedBy IS NOT NULL AND e.state = 'firing')
            ), due AS (
                SELECT episodeId, receiver, seq FROM ranked
                WHERE place <= \(perReceiver) ORDER BY createdAt, episodeId, receiver LIMIT \(limit)
            ), taken AS (
                UPDATE alertOutbox o
                SET leaseEpoch = \(lease.epoch), leaseUntil = clock_timestamp() + make_interval(secs => \(seconds))
                FROM due WHERE o.episodeId = due.episodeId AND o.receiver = due.receiver AND o.state = 'pending'
                RETURNING o.episodeId, o.receiver, o.seq, o.attempts
            )
            SELECT due.receiver, due.seq::bigint, \(raw: messageColumns),
                   (SELECT attempts::bigint FROM taken WHERE taken.episodeId = due.episodeId AND taken.receiver = due.receiver
                                                         AND taken.seq = due.seq),
                   first.state, first.attempts::bigint
            FROM due
            JOIN alertEpisodes e ON e.episodeId = due.episodeId
            JOIN alertTransitions t ON t.episodeId = due.episodeId AND t.seq = due.seq
            JOIN alertOutbox first ON first.episodeId = due.episodeId AND first.receiver = due.receiver AND first.kind = 'firing'
            """
        )
        return try rows.map { try ClaimedMessage(row: $0, externalURL: externalURL) }
    }

    /// Of a message for `e`, an episode, and `t`, one of its transitions; after its receiver and its number.
    static let messageColumns = """
        e.episodeId, t.kind, e.rule, e.ruleVersion, e.severity, e.labels, e.groupLabels, t.annotations, t.evidence, e.startsAt,
        e.firedAt, e.endsAt, e.resolvedAt, e.resolvedReason, e.detectedLateBySeconds, e.contributors, e.backlog, e.reproduceSql, e.revised
        """

    /// Records a try and moves the lane on. Nothing happens when the claim is not ours any more.
    static func settle(
        _ claimed: ClaimedMessage,
        _ outcome: DeliveryOutcome,
        lease: AlertLease,
        now: Timestamp,
        in transaction: any PostgresSession
    ) async throws {
        let message = claimed.message
        let state = outcome.result == .retry ? "pending" : outcome.result.rawValue
        let settledAt = outcome.result == .retry ? nil : now
        let changed = try await transaction.execute(
            """
            UPDATE alertOutbox
            SET state = \(state), attempts = attempts + 1, nextAttemptAt = \(outcome.nextAttemptAt), lastError = \(outcome.error),
                settledAt = \(settledAt), leaseEpoch = NULL, leaseUntil = NULL
            WHERE episodeId = \(message.episodeId) AND receiver = \(message.receiver) AND seq = \(Int32(message.seq))
              AND state = 'pending' AND leaseEpoch = \(lease.epoch)
            """
        )
        guard changed == 1 else { throw LeaseLost(lease: lease) }
        let older = outcome.result == .delivered ? "coalesced" : state
        try await transaction.execute(
            """
            UPDATE alertOutbox
            SET state = \(older), nextAttemptAt = \(outcome.nextAttemptAt), settledAt = \(settledAt), leaseEpoch = NULL, leaseUntil = NULL
            WHERE episodeId = \(message.episodeId) AND receiver = \(message.receiver) AND seq < \(Int32(message.seq)) AND state = 'pending'
            """
        )
        guard outcome.result != .coalesced else { return }
        try await transaction.execute(
            """
            INSERT INTO alertDeliveries (episodeId, receiver, seq, result, attemptedAt, status, latencyMs, responsePrefix, error)
            VALUES (\(message.episodeId), \(message.receiver), \(Int32(message.seq)), \(outcome.result.rawValue), \(now),
                    \(outcome.status.map(Int32.init)), \(Int32(clamping: outcome.latency.microseconds / 1000)),
                    \(outcome.responsePrefix), \(outcome.error))
            """
        )
    }

    /// How many messages wait, and since when the oldest does.
    static func waiting(on session: any PostgresSession) async throws -> (count: Int, oldest: Timestamp?) {
        let rows = try await session.query("SELECT count(*), min(createdAt) FROM alertOutbox WHERE state = 'pending'")
        return try rows[0].decode(Int.self, Timestamp?.self)
    }
}

extension ClaimedMessage {
    init(row: Row, externalURL: String) throws {
        let (
            receiver, seq, id, kindText, rule, version, severity, labels, group,
            annotations, evidence, startsAt, firedAt, endsAt, resolvedAt, reason,
            late, contributors, backlog, sql, revised, attempts, firstState, firstAttempts
        ) = try row.decode(
            String.self,
            Int.self,
            UUID.self,
            String.self,
            String.self,
            String.self,
            String.self,
            String.self,
            String.self,
            String.self,
            String.self,
            Timestamp.self,
            Timestamp.self,
            Timestamp?.self,
            Timestamp?.self,
            String?.self,
            Int64.self,
            String.self,
            String?.self,
            String.self,
            Bool.self,
            Int.self,
            String.self,
            Int.self
        )
        let kind = AlertMessage.Kind(rawValue: kindText) ?? .firing
        let isOver = kind == .resolved
        message = AlertMessage(
            episodeId: id,
            seq: seq,
            kind: kind,
            receiver: receiver,
            rule: rule,
            ruleVersion: version,
            severity: Severity(rawValue: severity) ?? .page,
            labels: try AlertJSON.value(from: labels),
            group: try AlertJSON.value(from: group),
            annotations: try AlertJSON.value(from: annotations),
            startsAt: startsAt,
            firedAt: firedAt,
            endsAt: isOver ? endsAt : nil,
            resolvedReason: isOver ? reason : nil,
            detectedLateBySeconds: late,
            evidence: try AlertJSON.value(from: evidence),
            contributors: try AlertJSON.value(from: contributors),
            backlog: try backlog.map { try AlertJSON.value(from: $0) },
            reproduceSQL: sql,
            revised: revised,
            coalesced: isOver && firstState != "delivered",
            externalURL: externalURL
        )
        self.attempts = attempts
        isUnheardOf = isOver && firstState == "pending" && firstAttempts == 0
        self.resolvedAt = resolvedAt
    }
}
