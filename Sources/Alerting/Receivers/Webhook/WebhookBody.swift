import AlertRules
import PushContract

/// The body of Alertmanager's webhook, version 4, field by field; all other fields are under `x_pushwatch`.
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
    let extra: Extra

    /// Of one alert, or of several a list in the order of `alerts`.
    enum Extra: Encodable {
        case alert(WebhookExtra)
        case alerts([WebhookExtra])

        private enum CodingKeys: String, CodingKey { case alerts }

        func encode(to encoder: any Encoder) throws {
            switch self {
            case .alert(let extra): try extra.encode(to: encoder)
            case .alerts(let extras):
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(extras, forKey: .alerts)
            }
        }
    }

    init(_ message: AlertNotification) {
        var groupLabels = message.group
        groupLabels["alertname"] = message.rule
        groupKey = "{}:" + LabelFingerprint.text(groupLabels)
        status = message.kind.rawValue
        receiver = message.receiver
        self.groupLabels = groupLabels
        commonLabels = message.labels
        commonAnnotations = Self.annotations(message)
        externalURL = message.externalURL
        alerts = [Self.alert(message)]
        extra = .alert(WebhookExtra(message))
    }

    /// Grouped by nothing, as Alertmanager says it; common is what all of them have.
    init(_ group: NotificationGroup) {
        groupKey = "{}:{}"
        status = (group.isFiring ? AlertNotification.Kind.firing : .resolved).rawValue
        receiver = group.receiver
        groupLabels = [:]
        commonLabels = Self.common(group.messages.map(\.labels))
        commonAnnotations = Self.common(group.messages.map(Self.annotations))
        externalURL = group.externalURL
        alerts = group.messages.map(Self.alert)
        extra = .alerts(group.messages.map(WebhookExtra.init))
    }

    private static func annotations(_ message: AlertNotification) -> [String: String] {
        var annotations = message.annotations
        annotations["runbook_url"] = message.runbookURL
        return annotations
    }

    private static func alert(_ message: AlertNotification) -> Alert {
        Alert(
            status: message.kind.rawValue,
            labels: message.labels,
            annotations: annotations(message),
            startsAt: message.startsAt.rfc3339,
            endsAt: message.endsAt?.rfc3339 ?? noTime,
            generatorURL: message.pageURL,
            fingerprint: LabelFingerprint.hex(message.labels)
        )
    }

    private static func common(_ all: [[String: String]]) -> [String: String] {
        all.dropFirst().reduce(all.first ?? [:]) { common, next in common.filter { next[$0.key] == $0.value } }
    }
}
