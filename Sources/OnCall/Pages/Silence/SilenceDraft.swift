import AlertRules
import Alerting
import Foundation
import HTTPServer
import PushContract

/// A silence that a person is about to add from an alert: which alerts, how long, why.
struct SilenceDraft: Hashable {
    /// Minutes people choose from.
    static let choices = [30, 120, 480, 1_440]

    var matchers: [SilenceMatcher]
    var minutes: Int
    var reason: String

    /// The narrowest matchers for this alert and its successors: the rule in the alert's group. Of a built-in alert, the severity too: the
    /// page that follows a ticket is another alert.
    static func matchers(of alert: Alert) -> [SilenceMatcher] {
        var labels = alert.ownLabels
        if alert.isBuiltIn { labels["severity"] = alert.severity.rawValue }
        return [SilenceMatcher(name: "alertname", value: alert.rule)]
            + labels.sorted { $0.key < $1.key }.map { SilenceMatcher(name: $0.key, value: $0.value) }
    }

    /// From the form on the page.
    init(_ form: [String: String], of alert: Alert) throws(Problem) {
        matchers = Self.matchers(of: alert)
        guard let minutes = form["minutes"].flatMap({ Int($0) }), Self.choices.contains(minutes) else {
            throw .invalid("Choose for how long.", pointer: "/minutes")
        }
        self.minutes = minutes
        let reason = (form["reason"] ?? "")[...].trimmed
        guard !reason.isEmpty, reason.count <= 500 else {
            throw .invalid(
                "Give a reason in 1 to 500 characters. The next person on call will read it.",
                pointer: "/reason"
            )
        }
        self.reason = String(reason)
    }

    func silence(author: String, now: Timestamp) -> AlertSilence {
        AlertSilence(
            matchers: matchers,
            startsAt: now,
            endsAt: now + .seconds(Int64(minutes) * 60),
            author: author,
            reason: reason,
            createdAt: now
        )
    }
}
