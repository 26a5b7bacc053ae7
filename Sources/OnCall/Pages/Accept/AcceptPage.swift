import AlertRules
import Alerting
import Foundation
import PushContract

/// What accepting an alert's level as normal would mean, before it is done.
struct AcceptPage {
    let frame: PageFrame
    let name: String
    let path: String
    let back: String
    let isFiring: Bool
    let level: String
    let multiple: String

    init(_ alert: Alert, reader: String, now: Timestamp) {
        frame = PageFrame(title: "Accept \(alert.rule) · Pushwatch", person: reader, now: now)
        name = AlertWords.name(alert)
        back = alert.pagePath
        path = alert.pagePath + "/accept"
        isFiring = alert.state == .firing
        level = "\(alert.evidence.worstText), \(AlertWords.counts(alert.evidence.worst, alert.evidence.level))"
        multiple = alert.evidence.level.isMultiple ? alert.evidence.thresholdText : "the rule's multiple"
    }
}

/// An accepted level, on the pages that show it.
struct AcceptanceRow {
    let name: String
    let path: String
    let text: String
    let reason: String
    /// The path of the form that undoes it, for those who may.
    let undoPath: String?
    let back: String

    init(_ accepted: AcceptanceRecord, mayUndo: Bool, back: String, now: Timestamp) {
        name = accepted.group.values.isEmpty ? accepted.rule : "\(accepted.rule) · \(accepted.group)"
        path = "/oncall/alerts/\(accepted.alertId.uuidString.lowercased())"
        let stateText =
            accepted.effectiveFrom.map { "in force since \(ClockText.moment($0, now: now))" } ?? "takes effect within a minute"
        text = "Accepted as normal by \(accepted.author), \(ClockText.moment(accepted.acceptedAt, now: now)); \(stateText)"
        reason = accepted.reason
        undoPath = mayUndo ? "/oncall/acceptances/\(accepted.id.uuidString.lowercased())/undo" : nil
        self.back = back
    }
}
