import AlertRules
import PushContract

/// Several alerts in words, the same for every receiver made for people.
struct GroupText {
    let group: NotificationGroup
    let alerts: [AlertText]

    init(_ group: NotificationGroup) {
        self.group = group
        alerts = group.messages.map(AlertText.init)
    }

    /// `[ticket] 3 alerts: 2 firing, 1 resolved`
    var title: String {
        let severities = Severity.allCases.filter { severity in group.messages.contains { $0.severity == severity } }.map(\.rawValue)
        let firing = group.messages.count { $0.kind == .firing }
        let counts = [(firing, "firing"), (alerts.count - firing, "resolved")].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return "[\(severities.joined(separator: ", "))] \(alerts.count) alerts: \(counts.joined(separator: ", "))"
    }

    /// Where all of them are.
    var link: AlertText.Link { AlertText.Link(text: "Open Pushwatch", url: group.externalURL + "/") }

    /// Each in one line; then, if `inFull`, each with all that is known.
    func plain(inFull: Bool) -> String {
        let lines = alerts.map { "- \($0.state): \($0.summary)" }
        let full = inFull ? alerts.flatMap { ["", "---", "", $0.title, "", $0.plain] } : []
        return ([title, ""] + lines + ["", "\(link.text): \(link.url)"] + full).joined(separator: "\n")
    }
}
