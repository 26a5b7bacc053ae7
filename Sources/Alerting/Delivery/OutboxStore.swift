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
    /// Where the receiver keeps the message.
    var thread: String?
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
        limits: [String: Int] = [:],
        quiet: [String] = [],
        for duration: Duration,
        externalURL: String,
        now: Timestamp,
        in transaction: any PostgresSession
    ) async throws -> [ClaimedMessage] {
        let seconds = Double(duration.components.seconds)
        let rows = try await transaction.query(
            """
            WITH lanes AS (
                SELECT episodeId, receiver,
                       -- An end tells all that went before it; anything else is told in order.
                       CASE WHEN bool_or(kind = 'resolved') THEN max(seq) ELSE min(seq) END AS seq, min(createdAt) AS createdAt, bool_and(nextAttemptAt <= \(now) OR kind IN ('acknowledged', 'repeated')) AS isDue,
                       bool_or(coalesce(leaseUntil > clock_timestamp(), false)) AS isHeld
                FROM alertOutbox WHERE state = 'pending'
                GROUP BY episodeId, receiver
            ), limited AS (
                SELECT receiver, most - (SELECT count(*) FROM alertDeliveries d
                                         WHERE d.receiver = l.receiver AND d.attemptedAt > \(now - .seconds(60))) AS room
                FROM unnest(\(limits.keys.sorted()), \(limits.keys.sorted().map { Int64(limits[$0] ?? 0) })) AS l (receiver, most)
            ), ranked AS (
                -- A receiver that hangs may fill its own places only.
                -- Pages come first, so that a limit is never used up by what can wait.
                SELECT lanes.*, severity IN ('critical', 'page') AS pages,
                       row_number() OVER (PARTITION BY receiver ORDER BY severity IN ('critical', 'page') DESC, createdAt, episodeId)
                          + (SELECT count(*) FROM lanes held WHERE held.receiver = lanes.receiver AND held.isHeld) AS place
                FROM lanes JOIN (SELECT episodeId AS id, severity FROM alertEpisodes) AS told ON id = episodeId
                WHERE isDue AND NOT isHeld AND (severity IN ('critical', 'page') OR NOT receiver = ANY(\(quiet)))
                  -- Silenced before it could be told: it waits for the end of the silence.
                  AND NOT EXISTS (SELECT FROM alertEpisodes e
                                  WHERE e.episodeId = lanes.episodeId AND e.silencedBy IS NOT NULL AND e.state = 'firing')
            ), due AS (
                SELECT episodeId, receiver, seq FROM ranked
                WHERE place <= least(\(perReceiver), coalesce((SELECT room FROM limited l WHERE l.receiver = ranked.receiver), \(perReceiver)))
                ORDER BY pages DESC, createdAt, episodeId, receiver LIMIT \(limit)
            ), taken AS (
                UPDATE alertOutbox o
                SET leaseEpoch = \(lease.epoch), leaseUntil = clock_timestamp() + make_interval(secs => \(seconds))
                FROM due WHERE o.episodeId = due.episodeId AND o.receiver = due.receiver AND o.state = 'pending' AND o.seq <= due.seq
                RETURNING o.episodeId, o.receiver, o.seq, o.attempts
            )
            SELECT due.receiver, due.seq::bigint, \(raw: messageColumns),
                   (SELECT attempts::bigint FROM taken WHERE taken.episodeId = due.episodeId AND taken.receiver = due.receiver
                                                         AND taken.seq = due.seq),
                   first.state, first.attempts::bigint,
                   (SELECT thread FROM alertThreads WHERE alertThreads.episodeId = due.episodeId AND alertThreads.receiver = due.receiver)
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
        e.firedAt, e.endsAt, e.resolvedAt, e.resolvedReason, e.detectedLateBySeconds, e.contributors, e.backlog, e.reproduceSql, e.revised, e.affected,
        e.acknowledgedBy
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
        if let thread = outcome.thread {
            try await transaction.execute(
                """
                INSERT INTO alertThreads (episodeId, receiver, thread) VALUES (\(message.episodeId), \(message.receiver), \(thread))
                ON CONFLICT DO NOTHING
                """
            )
        }
        if outcome.result == .delivered { try await unpark(message.receiver, besides: message.episodeId, now: now, in: transaction) }
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

    /// A receiver that takes messages again is told what it refused, as long as that still matters: five tries in all, so that a message
    /// it will never take does not come back for ever. Returns how many wait again.
    @discardableResult
    static func unpark(
        _ receiver: String,
        besides: UUID? = nil,
        isForced: Bool = false,
        now: Timestamp,
        in transaction: any PostgresSession
    ) async throws -> Int {
        try await transaction.execute(
            """
            UPDATE alertOutbox o SET state = 'pending', nextAttemptAt = \(now), settledAt = NULL
            FROM alertEpisodes e
            WHERE e.episodeId = o.episodeId AND o.receiver = \(receiver) AND o.state = 'parked' AND (\(isForced) OR o.attempts < 5)
              AND (\(besides)::uuid IS NULL OR o.episodeId <> \(besides)) AND o.kind IN ('firing', 'resolved')
              AND (e.state = 'firing' OR (o.kind = 'resolved' AND e.resolvedAt > \(now - .seconds(86_400))))
              AND e.silencedBy IS NULL
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
            late, contributors, backlog, sql, revised, affected, acknowledgedBy, attempts, firstState, firstAttempts, thread
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
            String?.self,
            String?.self,
            Int.self,
            String.self,
            Int.self,
            String?.self
        )
        let event = AlertMessage.Event(rawValue: kindText) ?? .fired
        let kind: AlertMessage.Kind = event == .resolved ? .resolved : .firing
        let isOver = kind == .resolved
        message = AlertMessage(
            episodeId: id,
            seq: seq,
            kind: kind,
            event: event,
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
            affected: try affected.map { try AlertJSON.value(from: $0) },
            reproduceSQL: sql,
            acknowledgedBy: acknowledgedBy,
            thread: thread,
            revised: revised,
            coalesced: isOver && firstState != "delivered",
            externalURL: externalURL
        )
        self.attempts = attempts
        isUnheardOf = isOver && firstState == "pending" && firstAttempts == 0
        self.resolvedAt = resolvedAt
    }
}
