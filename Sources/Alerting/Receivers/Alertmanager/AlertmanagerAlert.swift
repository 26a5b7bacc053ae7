import AlertRules
import Foundation
import PushContract

/// An alert as Alertmanager's API v2 takes it. The labels are its identity, so they contain neither values nor counts nor versions.
struct AlertmanagerAlert: Encodable, Sendable {
    /// How long Alertmanager keeps a firing alert that is not sent again: a shorter outage of ours resolves nothing.
    static let lifetime = Duration.seconds(15 * 60)

    var labels: [String: String]
    var annotations: [String: String]
    var startsAt: String
    var endsAt: String
    var generatorURL: String

    /// `staleSince`: since when the database could not be read, so that it may have ended.
    init(_ message: AlertNotification, now: Timestamp, staleSince: Timestamp? = nil) {
        labels = Dictionary(
            message.labels.filter { !$0.value.isEmpty }.map { (Self.labelName($0.key), $0.value) },
            uniquingKeysWith: { first, _ in first }
        )
        labels["alertname"] = message.rule
        annotations = Dictionary(message.annotations.map { (Self.labelName($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
        annotations["runbook_url"] = message.runbookURL
        if BuiltInAlert(rawValue: message.rule) == nil {
            annotations["observed"] = message.evidence.observedText
            annotations["threshold"] = message.evidence.thresholdText
        }
        annotations["alertId"] = message.alertId.uuidString.lowercased()
        annotations["stale_since"] = staleSince?.rfc3339
        startsAt = message.startsAt.rfc3339
        switch message.kind {
        case .firing: endsAt = (now + Self.lifetime).rfc3339
        // For Alertmanager an alert whose end is in the future is firing.
        case .resolved: endsAt = min(message.endsAt ?? now, now).rfc3339
        }
        generatorURL = message.pageURL
    }

    /// `[a-zA-Z_][a-zA-Z0-9_]*`; anything else becomes an underscore.
    static func labelName(_ name: String) -> String {
        let safe = String(
            name.unicodeScalars.map { $0.isASCII && ($0.properties.isAlphabetic || ("0"..."9").contains($0)) ? Character($0) : "_" }
        )
        return safe.first?.isNumber ?? true ? "_" + safe : safe
    }
}
