import AlertRules
import Foundation
import PushContract

/// What Alertmanager has no field for.
struct WebhookExtra: Encodable {
    struct Links: Encodable {
        /// For people.
        var page: String
        /// For programs: everything that is known, as JSON.
        var alert: String
        /// POST, with a key that has `alerts:write`.
        var acknowledge: String
        /// POST, with a key that has `alerts:write`.
        var silence: String
        /// PUT, with a key that has `alerts:write`.
        var throttle: String
        var runbook: String?
    }

    let alertId: String
    let seq: Int
    let ruleVersion: String
    let firedAt: String
    let detectedLateBySeconds: Int64
    let resolvedReason: String?
    let evidence: EvidenceDocument
    let contributors: [Contributor]
    let backlog: BacklogNumbers?
    let affected: AffectedDevices?
    let sql: String
    let links: Links
    let revised: Bool
    /// The alert fired and ended before this message: there was none for firing.
    let supersedesFiring: Bool

    init(_ message: AlertNotification) {
        alertId = message.alertId.uuidString.lowercased()
        seq = message.seq
        ruleVersion = message.ruleVersion
        firedAt = message.firedAt.rfc3339
        detectedLateBySeconds = message.detectedLateBySeconds
        resolvedReason = message.resolvedReason
        evidence = EvidenceDocument(message.evidence)
        contributors = message.contributors
        backlog = message.backlog
        affected = message.affected
        sql = message.reproduceSQL
        links = Links(
            page: message.pageURL,
            alert: message.alertURL,
            acknowledge: message.alertURL + "/acknowledge",
            silence: message.externalURL + "/silences",
            throttle: message.externalURL + "/sends/throttle",
            runbook: message.runbookURL
        )
        revised = message.revised
        supersedesFiring = message.supersedesFiring
    }
}
