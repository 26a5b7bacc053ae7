import AlertRules
import Foundation
import Postgres
import PushContract

/// A message taken from the outbox, to be sent by one notifier.
struct ClaimedNotification: Sendable {
    var message: AlertNotification
    /// Tries before this one.
    var attempts: Int
    /// The end of an alert of which nothing was sent to the receiver before.
    var isFiringUnsent: Bool
    var resolvedAt: Timestamp?
    /// Of the grouped message it is part of; nil when it is sent alone.
    var messageId: String?
}

extension ClaimedNotification {
    init(row: Row, externalURL: String) throws {
        let (
            receiver, seq, id, kindText, rule, version, severity, labels, group,
            annotations, evidence, startsAt, firedAt, endsAt, resolvedAt, reason,
            late, contributors, backlog, sql, revised, affected, acknowledgedBy, attempts, wasNotified, isUnsent, thread, messageId,
            createdAt
        ) = try row.decode(
            (
                String, Int, UUID, String, String, String, String, String, String, String, String, Timestamp, Timestamp, Timestamp?,
                Timestamp?, String?, Int64, String, String?, String, Bool, String?, String?, Int, Bool, Bool, String?, String?,
                Timestamp
            ).self
        )
        // To the receivers of an escalation it begins, too.
        let stored = AlertNotification.Event(rawValue: kindText) ?? .fired
        // To a receiver that was never notified that it fires, it begins.
        let event = stored == .reopened && !wasNotified ? .fired : stored
        let kind: AlertNotification.Kind = event == .resolved ? .resolved : .firing
        let isOver = kind == .resolved
        message = AlertNotification(
            alertId: id,
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
            supersedesFiring: isOver && !wasNotified,
            createdAt: createdAt,
            externalURL: externalURL
        )
        self.attempts = attempts
        isFiringUnsent = isOver && isUnsent
        self.resolvedAt = resolvedAt
        self.messageId = messageId
    }
}
