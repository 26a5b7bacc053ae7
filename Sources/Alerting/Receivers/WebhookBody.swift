import AlertRules
import PushContract

/// The body of Alertmanager's webhook, version 4, field by field; what is ours stands under `x_pushwatch` alone.
struct WebhookBody: Encodable {
    struct Alert: Encodable {
        var status: String
        var labels: [String: String]
        var annotations: [String: String]
        var startsAt: String
        var endsAt: String
        var generatorURL: String
        var fingerprint: String
    }

    enum CodingKeys: String, CodingKey {
        case version, groupKey, truncatedAlerts, status, receiver, groupLabels, commonLabels, commonAnnotations, externalURL, alerts
        case extra = "x_pushwatch"
    }

    /// What Go writes for "no time"; receivers test for it.
    static let noTime = "0001-01-01T00:00:00Z"

    let version = "4"
    let groupKey: String
    let truncatedAlerts = 0
    let status: String
    let receiver: String
    let groupLabels: [String: String]
    let commonLabels: [String: String]
    let commonAnnotations: [String: String]
    let externalURL: String
    let alerts: [Alert]
    let extra: WebhookExtra

    init(_ message: AlertMessage) {
        var annotations = message.annotations
        annotations["runbook_url"] = message.runbookURL
        var groupLabels = message.group
        groupLabels["alertname"] = message.rule
        groupKey = "{}:" + LabelFingerprint.text(groupLabels)
        status = message.kind.rawValue
        receiver = message.receiver
        self.groupLabels = groupLabels
        commonLabels = message.labels
        commonAnnotations = annotations
        externalURL = message.externalURL
        alerts = [
            Alert(
                status: message.kind.rawValue,
                labels: message.labels,
                annotations: annotations,
                startsAt: message.startsAt.rfc3339,
                endsAt: message.endsAt?.rfc3339 ?? Self.noTime,
                generatorURL: message.pageURL,
                fingerprint: LabelFingerprint.hex(message.labels)
            )
        ]
        extra = WebhookExtra(message)
    }
}
