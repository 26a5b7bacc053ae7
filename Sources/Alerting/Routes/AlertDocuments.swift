import AlertRules
import Foundation
package import Postgres
import PushContract

/// The answer of `GET /alerts`.
package struct AlertListDocument: Encodable, Sendable {
    var alerts: [AlertDocument]
    /// Errors of rule and receiver files that are therefore not in force; empty when there are none.
    var ruleErrors: [String]

    package init(alerts: [Alert], ruleErrors: [String] = []) {
        self.alerts = alerts.map(AlertDocument.init)
        self.ruleErrors = ruleErrors
    }
}

/// An alert as the routes show it.
package struct AlertDocument: Encodable, Sendable {
    var id: String
    var rule: String
    var ruleVersion: String
    var group: [String: String]
    var labels: [String: String]
    var severity: String
    var state: String
    var startsAt: Timestamp
    var firedAt: Timestamp
    var endsAt: Timestamp?
    var resolvedAt: Timestamp?
    var resolvedReason: String?
    var detectedLateBySeconds: Int64
    var evidence: EvidenceDocument
    var contributors: [Contributor]
    var backlog: BacklogNumbers?
    var affected: AffectedDevices?
    /// Who is affected while it goes on; absent until it was read.
    var impact: ImpactDocument?
    var annotations: [String: String]
    var acknowledgedAt: Timestamp?
    var acknowledgedBy: String?
    var silencedBy: String?
    /// The alert that suppresses this one: its receivers are not notified of this one meanwhile.
    var suppressedBy: SuppressingAlertDocument?
    var revised: Bool
    var noDataSince: Timestamp?

    package init(_ alert: Alert) {
        id = alert.id.uuidString.lowercased()
        rule = alert.rule
        ruleVersion = alert.ruleVersion
        group = alert.group.labels
        labels = alert.labels
        severity = alert.severity.rawValue
        state = alert.state.rawValue
        startsAt = alert.startsAt
        firedAt = alert.firedAt
        endsAt = alert.endsAt
        resolvedAt = alert.resolvedAt
        resolvedReason = alert.resolvedReason
        detectedLateBySeconds = alert.detectedLateBySeconds
        evidence = EvidenceDocument(alert.evidence)
        contributors = alert.contributors
        backlog = alert.backlog
        affected = alert.affected
        impact = alert.impact.map(ImpactDocument.init)
        annotations = alert.annotations
        acknowledgedAt = alert.acknowledgedAt
        acknowledgedBy = alert.acknowledgedBy
        silencedBy = alert.silencedBy?.uuidString.lowercased()
        suppressedBy = alert.suppressedBy.map(SuppressingAlertDocument.init)
        revised = alert.revised
        noDataSince = alert.noDataSince
    }
}

/// The impact of an alert.
struct ImpactDocument: Encodable, Sendable {
    struct Snapshot: Encodable, Sendable {
        var at: Timestamp
        var window: EvidenceDocument.Window
        var contributors: [Contributor]
        var affected: AffectedDevices?
        var backlog: BacklogNumbers?

        init(_ look: AlertImpact.Snapshot) {
            at = look.at
            window = EvidenceDocument.Window(look.window)
            contributors = look.contributors
            affected = look.affected
            backlog = look.backlog
        }
    }

    var worst: Snapshot?
    var now: Snapshot

    init(_ impact: AlertImpact) {
        worst = impact.worst.map(Snapshot.init)
        now = Snapshot(impact.now)
    }
}

struct SuppressingAlertDocument: Encodable, Sendable {
    var alertId: String
    var rule: String
    var group: String

    init(_ suppressedBy: SuppressingAlert) {
        alertId = suppressedBy.alertId.uuidString.lowercased()
        rule = suppressedBy.rule
        group = suppressedBy.group
    }
}

/// The answer of `GET /alerts/{id}`.
package struct AlertDetailDocument: Encodable, Sendable {
    var alert: AlertDocument
    /// Read-only; returns the numbers of the evidence in psql.
    var sql: String
    var receivers: [NotificationDocument]
    /// Every try, oldest first.
    var deliveries: [NotificationAttemptDocument]
    /// The steps of escalation that were taken, oldest first.
    var escalations: [EscalationDocument]

    package static func read(_ alert: Alert, on session: any PostgresSession) async throws -> AlertDetailDocument {
        AlertDetailDocument(
            alert: AlertDocument(alert),
            sql: alert.reproduceSQL,
            receivers: try await NotificationHistory.notifications(of: alert.id, on: session).map(NotificationDocument.init),
            deliveries: try await NotificationHistory.notificationAttempts(of: alert.id, on: session).map(NotificationAttemptDocument.init),
            escalations: try await EscalationStore.history(of: alert.id, on: session).map(EscalationDocument.init)
        )
    }
}

/// The state of a notification.
struct NotificationDocument: Encodable, Sendable {
    var receiver: String
    var kind: String
    var state: String
    var attempts: Int
    var nextAttemptAt: Timestamp?
    var lastError: String?

    init(_ notification: NotificationRecord) {
        receiver = notification.receiver
        kind = notification.kind
        state = notification.state
        attempts = notification.attempts
        nextAttemptAt = notification.state == "pending" ? notification.nextAttemptAt : nil
        lastError = notification.lastError
    }
}

/// A step of escalation.
struct EscalationDocument: Encodable, Sendable {
    var at: Timestamp
    var reason: String
    var receivers: [String]

    init(_ record: EscalationRecord) {
        at = record.at
        reason = record.text
        receivers = record.receivers
    }
}

/// One attempt.
struct NotificationAttemptDocument: Encodable, Sendable {
    var receiver: String
    var kind: String
    var result: String
    var attemptedAt: Timestamp
    var status: Int?
    var latencyMs: Int
    var response: String?
    var error: String?

    init(_ record: NotificationAttemptRecord) {
        receiver = record.receiver
        kind = record.kind
        result = record.result
        attemptedAt = record.attemptedAt
        status = record.status
        latencyMs = record.latencyMs
        response = record.responsePrefix
        error = record.error
    }
}
