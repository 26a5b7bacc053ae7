package import Foundation
package import PushContract

/// A label an alert must have (or, with `isEqual` false, must not have) for a silence to match.
package struct SilenceMatcher: Sendable, Hashable, Codable {
    /// A label: `alertname`, `severity`, a label of the rule, or a dimension of the group.
    package var name: String
    /// `*` matches any text.
    package var value: String
    package var isEqual: Bool

    package init(name: String, value: String, isEqual: Bool = true) {
        self.name = name
        self.value = value
        self.isEqual = isEqual
    }

    /// A label that is absent counts as empty. `rule` is another word for `alertname`.
    package func matches(_ labels: [String: String]) -> Bool {
        Wildcard.matches(labels[name == "rule" ? "alertname" : name] ?? "", value) == isEqual
    }
}

/// A period in which matching alerts are recorded but not notified.
package struct AlertSilence: Sendable, Hashable {
    package var id: UUID
    package var matchers: [SilenceMatcher]
    package var startsAt: Timestamp
    package var endsAt: Timestamp
    package var author: String
    package var reason: String
    package var createdAt: Timestamp

    package init(
        id: UUID = UUID(),
        matchers: [SilenceMatcher],
        startsAt: Timestamp,
        endsAt: Timestamp,
        author: String,
        reason: String,
        createdAt: Timestamp
    ) {
        self.id = id
        self.matchers = matchers
        self.startsAt = startsAt
        self.endsAt = endsAt
        self.author = author
        self.reason = reason
        self.createdAt = createdAt
    }

    /// What it mutes, for the audit log: `alertname=ProviderUnavailable provider=fcm`.
    package var subject: String { matchers.map { "\($0.name)\($0.isEqual ? "=" : "!=")\($0.value)" }.joined(separator: " ") }

    /// Until when and why, for the audit log.
    package var summary: String { "until \(endsAt.rfc3339): \(reason)" }

    package func isActive(at now: Timestamp) -> Bool { startsAt <= now && now < endsAt }

    package func matches(_ labels: [String: String]) -> Bool { matchers.allSatisfy { $0.matches(labels) } }
}

extension Alert {
    /// With the silence that mutes it now; nil where that has not changed. `isDue`: it is not muted any more, so its receivers are
    /// notified.
    func silenced(by silences: [AlertSilence]) -> (alert: Alert, isDue: Bool)? {
        var alert = self
        alert.silencedBy = silences.first { $0.matches(labels) }?.id
        return alert.silencedBy == silencedBy ? nil : (alert, isMuted && !alert.isMuted)
    }
}
