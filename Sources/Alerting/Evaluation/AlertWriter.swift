import AlertRules
import Foundation
import Postgres
import PushContract

/// Writes alerts, their transitions and what is to be delivered, all in the evaluator's transaction.
struct AlertWriter {
    let transaction: any PostgresSession
    let lease: AlertLease
    let now: Timestamp

    /// `receivers`: the receivers to notify now, unless the alert is silenced.
    func fire(_ alert: Alert, reason: Transition.Reason, minute: Minute, receivers: [String]) async throws {
        try await insert(alert)
        try await record(alert, seq: 1, kind: Alert.State.firing.rawValue, reason: reason.rawValue, minute: minute)
        if alert.silencedBy == nil { try await enqueue(alert.id, receivers: receivers) }
    }

    /// Receivers that were not notified of the alert are not notified of its end; under a silence, nor are those to which nothing was sent.
    func resolve(_ alert: Alert, minute: Minute) async throws {
        try await transaction.execute(
            """
            UPDATE alerts
            SET state = 'resolved', endsAt = \(alert.endsAt), resolvedAt = \(alert.resolvedAt),
                resolvedReason = \(alert.resolvedReason), evidence = \(try AlertJSON.text(alert.evidence)),
                annotations = \(try AlertJSON.text(alert.annotations)), noDataSince = NULL, updatedAt = \(now)
            WHERE alertId = \(alert.id)
            """
        )
        let seq = try await AlertStore.nextSeq(alert.id, in: transaction)
        try await record(alert, seq: seq, kind: Alert.State.resolved.rawValue, reason: alert.resolvedReason ?? "", minute: minute)
        if alert.silencedBy != nil {
            try await transaction.execute(
                """
                UPDATE notifications SET state = 'superseded', settledAt = \(now)
                WHERE alertId = \(alert.id) AND kind IN ('firing', 'reopened') AND state = 'pending' AND \(NotificationStore.isUnsent)
                """
            )
        }
        try await transaction.execute(
            """
            INSERT INTO notifications (alertId, receiver, seq, kind, state, nextAttemptAt, createdAt)
            SELECT DISTINCT alertId, receiver, \(seq), 'resolved', 'pending', \(now), \(now)
            FROM notifications WHERE alertId = \(alert.id) AND kind IN ('firing', 'reopened') AND state <> 'superseded'
            """
        )
    }

    /// Receivers that nothing was sent to about the end are not notified of it any more; those that may have been get one update. Unless
    /// none was, or it is over again, it waits to be acknowledged again, and its escalation begins anew.
    func reopen(_ alert: Alert, minute: Minute, receivers: [String]) async throws {
        try await transaction.execute(
            """
            UPDATE alerts
            SET state = 'firing', endsAt = NULL, resolvedAt = NULL, resolvedReason = NULL,
                evidence = \(try AlertJSON.text(alert.evidence)), annotations = \(try AlertJSON.text(alert.annotations)),
                silencedBy = \(alert.silencedBy),
                suppressedBy = \(try alert.suppressedBy.map { try AlertJSON.text($0) }), updatedAt = \(now)
            WHERE alertId = \(alert.id)
            """
        )
        let seq = try await AlertStore.nextSeq(alert.id, in: transaction)
        try await record(alert, seq: seq, kind: "reopened", reason: Transition.Reason.conditionMet.rawValue, minute: minute)
        try await dropUnsent("resolved", of: alert.id)
        if try await !isEndUnknown(alert.id) {
            try await dropUnsent("acknowledged", of: alert.id)
            if alert.annotations["late"] == nil {
                try await transaction.execute(
                    """
                    UPDATE alerts SET acknowledgedAt = NULL, acknowledgedBy = NULL, escalationStep = 0, escalationSince = \(now)
                    WHERE alertId = \(alert.id)
                    """
                )
            }
        }
        if alert.silencedBy == nil { try await enqueueAgain(alert.id, receivers: receivers) }
    }

    /// Nothing was sent to the receivers that were to be notified of its last end.
    private func isEndUnknown(_ id: UUID) async throws -> Bool {
        try await transaction.query(
            """
            SELECT coalesce(bool_and(state = 'superseded'), false) FROM notifications
            WHERE alertId = \(id) AND seq = (SELECT max(seq) FROM alertTransitions WHERE alertId = \(id) AND kind = 'resolved')
            """
        )[0].decode(Bool.self)
    }

    private func dropUnsent(_ kind: String, of id: UUID) async throws {
        try await transaction.execute(
            """
            UPDATE notifications SET state = 'superseded', settledAt = \(now)
            WHERE alertId = \(id) AND kind = \(kind) AND state = 'pending' AND \(NotificationStore.isUnsent)
            """
        )
    }

    /// What changes while alerts go on.
    func update(_ alerts: [Alert]) async throws {
        guard !alerts.isEmpty else { return }
        try await transaction.execute(
            """
            UPDATE alerts
            SET ruleVersion = changed.ruleVersion, evidence = changed.evidence::jsonb, revised = changed.revised,
                noDataSince = changed.noDataSince, silencedBy = changed.silencedBy, suppressedBy = changed.suppressedBy::jsonb,
                updatedAt = \(now)
            FROM unnest(
                \(alerts.map(\.id)), \(alerts.map(\.ruleVersion)), \(try alerts.map { try AlertJSON.text($0.evidence) }),
                \(alerts.map(\.revised)), \(alerts.map(\.noDataSince)), \(alerts.map(\.silencedBy)),
                \(try alerts.map { try $0.suppressedBy.map { try AlertJSON.text($0) } })
            ) AS changed (alertId, ruleVersion, evidence, revised, noDataSince, silencedBy, suppressedBy)
            WHERE alerts.alertId = changed.alertId
            """
        )
    }

    /// Notifies of an alert that was muted until now: its receivers have as long to acknowledge it as those of an alert that begins, and to
    /// accept what waited for the end of a silence.
    func enqueueMuted(_ id: UUID, receivers: [String]) async throws {
        try await transaction.execute("UPDATE notifications SET createdAt = \(now) WHERE alertId = \(id) AND state = 'pending'")
        try await enqueueAgain(id, receivers: receivers)
        try await transaction.execute("UPDATE alerts SET escalationSince = \(now) WHERE alertId = \(id)")
    }

    /// Notifies of a page that reached nobody: its receivers have as long to acknowledge it as those of an alert that begins. Idempotent.
    /// Notifications that wait for receivers that are not `configured` are dropped: one that was only renamed would get two. Returns how
    /// many receivers are notified.
    @discardableResult
    func enqueueUnnotified(_ id: UUID, receivers: [String], configured: [String]) async throws -> Int {
        let notified = try await enqueueAgain(id, receivers: receivers)
        guard notified > 0 else { return 0 }
        try await transaction.execute(
            """
            UPDATE notifications SET state = 'superseded', settledAt = \(now)
            WHERE alertId = \(id) AND state = 'pending' AND receiver <> ALL(\(configured)) AND \(NotificationStore.isUnsent)
            """
        )
        try await transaction.execute("UPDATE alerts SET escalationSince = \(now) WHERE alertId = \(id)")
        return notified
    }

    /// Of an alert that may have been reopened: receivers that were last notified of its end are notified that it fires again, and so are
    /// `receivers` whose earlier notifications were all given up; others of them, that it fires. Idempotent. Returns how many are notified.
    @discardableResult
    private func enqueueAgain(_ id: UUID, receivers: [String]) async throws -> Int {
        let again = try await transaction.execute(
            """
            INSERT INTO notifications (alertId, receiver, seq, kind, state, nextAttemptAt, createdAt)
            SELECT \(id), notified.receiver, reopened.seq, 'reopened', 'pending', \(now), \(now)
            FROM (SELECT max(seq) AS seq FROM alertTransitions WHERE alertId = \(id) AND kind = 'reopened') reopened
            CROSS JOIN (SELECT DISTINCT receiver FROM notifications WHERE alertId = \(id)) notified
            LEFT JOIN LATERAL (
                SELECT kind FROM notifications o
                WHERE o.alertId = \(id) AND o.receiver = notified.receiver
                  AND (kind IN ('firing', 'reopened') AND state NOT IN ('superseded', 'undelivered')
                       OR kind = 'resolved' AND state IN ('pending', 'delivered'))
                ORDER BY seq DESC LIMIT 1
            ) newest ON true
            WHERE reopened.seq IS NOT NULL
              AND (newest.kind = 'resolved' OR newest.kind IS NULL AND notified.receiver = ANY(\(receivers)))
            ON CONFLICT DO NOTHING
            """
        )
        return try await again + enqueue(id, receivers: receivers)
    }

    /// Idempotent: a receiver that was notified before is not notified again. Returns how many are.
    @discardableResult
    private func enqueue(_ id: UUID, receivers: [String]) async throws -> Int {
        guard !receivers.isEmpty else { return 0 }
        return try await transaction.execute(
            """
            INSERT INTO notifications (alertId, receiver, seq, kind, state, nextAttemptAt, createdAt)
            SELECT \(id), receiver, 1, 'firing', 'pending', \(now), \(now) FROM unnest(\(receivers)) AS r (receiver)
            ON CONFLICT DO NOTHING
            """
        )
    }

    private func insert(_ alert: Alert) async throws {
        try await transaction.execute(
            """
            INSERT INTO alerts (
                alertId, rule, ruleVersion, groupKey, groupLabels, labels, severity, state, startsAt, firedAt,
                resolvedAt, detectedLateBySeconds, evidence, contributors, backlog, reproduceSql, annotations, silencedBy, affected,
                suppressedBy, updatedAt, escalationSince
            ) VALUES (
                \(alert.id), \(alert.rule), \(alert.ruleVersion), \(alert.key),
                \(try AlertJSON.text(alert.group.labels)), \(try AlertJSON.text(alert.labels)), \(alert.severity.rawValue),
                \(alert.state.rawValue), \(alert.startsAt), \(alert.firedAt), \(alert.resolvedAt), \(alert.detectedLateBySeconds),
                \(try AlertJSON.text(alert.evidence)), \(try AlertJSON.text(alert.contributors)),
                \(try alert.backlog.map { try AlertJSON.text($0) }), \(alert.reproduceSQL),
                \(try AlertJSON.text(alert.annotations)), \(alert.silencedBy),
                \(try alert.affected.map { try AlertJSON.text($0) }),
                \(try alert.suppressedBy.map { try AlertJSON.text($0) }), \(now), \(now)
            )
            """
        )
    }

    private func record(
        _ alert: Alert,
        seq: Int32,
        kind: String,
        reason: String,
        minute: Minute
    ) async throws {
        try await transaction.execute(
            """
            INSERT INTO alertTransitions (alertId, seq, kind, reason, minute, evidence, annotations, epoch, recordedAt)
            VALUES (\(alert.id), \(seq), \(kind), \(reason), \(minute.timestamp), \(try AlertJSON.text(alert.evidence)),
                    \(try AlertJSON.text(alert.annotations)), \(lease.epoch), \(now))
            """
        )
    }
}
