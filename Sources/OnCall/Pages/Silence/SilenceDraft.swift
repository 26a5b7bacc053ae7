import AlertRules
import Alerting
import Foundation
import HTTPServer
import PushContract

/// A silence as somebody is about to make it from an alert: which alerts, how long, why.
struct SilenceDraft: Hashable {
    /// Minutes people choose from.
    static let choices = [30, 120, 480, 1_440]

    var matchers: [SilenceMatcher]
    var minutes: Int
    var reason: String

    /// The alert's rule in the alert's group: the narrowest matchers for this alert and its successors.
    static func matchers(of alert: Alert) -> [SilenceMatcher] {
        [SilenceMatcher(name: "alertname", value: alert.rule)]
            + alert.group.values.map { SilenceMatcher(name: $0.rawValue, value: $1) }.sorted { $0.name < $1.name }
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
