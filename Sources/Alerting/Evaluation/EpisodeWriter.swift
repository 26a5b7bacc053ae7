import AlertRules
import Foundation
import Postgres
import PushContract

/// Writes episodes, their transitions and what is to be delivered, all in the evaluator's transaction.
struct EpisodeWriter {
    let transaction: any PostgresSession
    let lease: AlertLease
    let now: Timestamp

    /// `receivers`: who is told now, unless the alert is silenced.
    func fire(_ episode: AlertEpisode, reason: Transition.Reason, minute: Minute, receivers: [String]) async throws {
        try await insert(episode)
        try await record(episode, seq: 1, kind: .firing, reason: reason.rawValue, minute: minute)
        if episode.silencedBy == nil { try await enqueue(episode.id, receivers: receivers) }
    }

    /// Receivers that were not told of the alert are not told of its end; under a silence that includes those still to be told.
    func resolve(_ episode: AlertEpisode, minute: Minute) async throws {
        try await transaction.execute(
            """
            UPDATE alertEpisodes
            SET state = 'resolved', endsAt = \(episode.endsAt), resolvedAt = \(episode.resolvedAt),
                resolvedReason = \(episode.resolvedReason), evidence = \(try AlertJSON.text(episode.evidence)),
                annotations = \(try AlertJSON.text(episode.annotations)), heldSince = NULL, updatedAt = \(now)
            WHERE episodeId = \(episode.id)
            """
        )
        let seq = try await EpisodeStore.nextSeq(episode.id, in: transaction)
        try await record(episode, seq: seq, kind: .resolved, reason: episode.resolvedReason ?? "", minute: minute)
        if episode.silencedBy != nil {
            try await transaction.execute(
                """
                UPDATE alertOutbox SET state = 'coalesced', settledAt = \(now), leaseEpoch = NULL, leaseUntil = NULL
                WHERE episodeId = \(episode.id) AND kind = 'firing' AND state = 'pending'
                """
            )
        }
        try await transaction.execute(
            """
            INSERT INTO alertOutbox (episodeId, receiver, seq, kind, state, nextAttemptAt, createdAt)
            SELECT episodeId, receiver, \(seq), 'resolved', 'pending', \(now), \(now)
            FROM alertOutbox WHERE episodeId = \(episode.id) AND kind = 'firing' AND state <> 'coalesced'
            """
        )
    }

    /// What changes while an alert goes on.
    func update(_ episode: AlertEpisode) async throws {
        try await transaction.execute(
            """
            UPDATE alertEpisodes
            SET ruleVersion = \(episode.ruleVersion), evidence = \(try AlertJSON.text(episode.evidence)), revised = \(episode.revised),
                heldSince = \(episode.heldSince), silencedBy = \(episode.silencedBy),
                heldBack = \(try episode.heldBack.map { try AlertJSON.text($0) }), updatedAt = \(now)
            WHERE episodeId = \(episode.id)
            """
        )
    }

    /// Idempotent: a receiver that was told before is not told again.
    func enqueue(_ id: UUID, receivers: [String]) async throws {
        guard !receivers.isEmpty else { return }
        try await transaction.execute(
            """
            INSERT INTO alertOutbox (episodeId, receiver, seq, kind, state, nextAttemptAt, createdAt)
            SELECT \(id), receiver, 1, 'firing', 'pending', \(now), \(now) FROM unnest(\(receivers)) AS r (receiver)
            ON CONFLICT DO NOTHING
            """
        )
    }

    private func insert(_ episode: AlertEpisode) async throws {
        try await transaction.execute(
            """
            INSERT INTO alertEpisodes (
                episodeId, rule, ruleVersion, groupKey, groupLabels, labels, severity, state, startsAt, firedAt,
                detectedLateBySeconds, evidence, contributors, backlog, reproduceSql, annotations, silencedBy, affected, heldBack,
                updatedAt
            ) VALUES (
                \(episode.id), \(episode.rule), \(episode.ruleVersion), \(episode.key),
                \(try AlertJSON.text(episode.group.labels)), \(try AlertJSON.text(episode.labels)), \(episode.severity.rawValue),
                'firing', \(episode.startsAt), \(episode.firedAt), \(episode.detectedLateBySeconds),
                \(try AlertJSON.text(episode.evidence)), \(try AlertJSON.text(episode.contributors)),
                \(try episode.backlog.map { try AlertJSON.text($0) }), \(episode.reproduceSQL),
                \(try AlertJSON.text(episode.annotations)), \(episode.silencedBy),
                \(try episode.affected.map { try AlertJSON.text($0) }),
                \(try episode.heldBack.map { try AlertJSON.text($0) }), \(now)
            )
            """
        )
    }

    private func record(
        _ episode: AlertEpisode,
        seq: Int32,
        kind: AlertEpisode.State,
        reason: String,
        minute: Minute
    ) async throws {
        try await transaction.execute(
            """
            INSERT INTO alertTransitions (episodeId, seq, kind, reason, minute, evidence, annotations, epoch, recordedAt)
            VALUES (\(episode.id), \(seq), \(kind.rawValue), \(reason), \(minute.timestamp), \(try AlertJSON.text(episode.evidence)),
                    \(try AlertJSON.text(episode.annotations)), \(lease.epoch), \(now))
            """
        )
    }
}
