package import AlertRules
package import Foundation
package import PushContract

/// One notification for one receiver: the transition, with the links the receiver needs.
package struct AlertNotification: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable, Codable {
        case firing, resolved
    }

    /// What the message says happened; the state of the alert, `kind`, follows from it.
    package enum Event: String, Sendable, Hashable, CaseIterable {
        case fired = "firing"
        /// A person works on it.
        case acknowledged
        /// It still fires.
        case repeated
        /// It fires again soon after its end: the same alert goes on, which is no new page.
        case reopened
        case resolved
    }

    package var alertId: UUID
    /// 1 = firing; grows within an alert.
    package var seq: Int
    package var kind: Kind
    package var event = Event.fired
    package var receiver: String
    package var rule: String
    package var ruleVersion: String
    package var severity: Severity
    package var labels: [String: String]
    /// The values of the rule's `by`.
    package var group: [String: String]
    package var annotations: [String: String]
    package var startsAt: Timestamp
    package var firedAt: Timestamp
    /// Nil while firing.
    package var endsAt: Timestamp?
    package var resolvedReason: String?
    package var detectedLateBySeconds: Int64
    package var evidence: Evidence
    package var contributors: [Contributor]
    package var backlog: BacklogNumbers?
    package var affected: AffectedDevices?
    package var reproduceSQL: String
    package var acknowledgedBy: String?
    /// Where the receiver keeps this alert's message, if it edits messages.
    package var thread: String?
    package var revised: Bool
    /// No notification that it fires was delivered: this one covers both.
    package var supersedesFiring: Bool
    /// When it was put into the outbox: what it says stays the same when it is sent again.
    package var createdAt: Timestamp
    /// Where people and machines find this service, without a trailing slash.
    package var externalURL: String

    /// The same for every try at this message, so that a receiver can recognise a repetition.
    package var id: String { "\(alertId.uuidString.lowercased())-\(seq)" }

    /// The labels that distinguish the alert from others of its rule: the group, or those that its built-in alert adds.
    var ownLabels: [String: String] { BuiltInAlert(rawValue: rule)?.ownLabels(labels) ?? group }

    /// The on-call page of the alert.
    var pageURL: String { "\(externalURL)/oncall/alerts/\(alertId.uuidString.lowercased())" }

    /// The same for programs.
    var alertURL: String { "\(externalURL)/alerts/\(alertId.uuidString.lowercased())" }

    /// Runbooks in the alerts directory are served by the on-call site.
    var runbookURL: String? {
        annotations["runbook"].map { $0.contains("://") ? $0 : "\(externalURL)/\($0)" }
    }
}
