import AlertRules
import PushContract

/// Several alerts, none of which is a page, for one receiver in one message.
package struct NotificationGroup: Sendable, Hashable {
    /// What fires first, the most severe first, then the oldest.
    package let messages: [AlertNotification]
    /// The same for every attempt, so that a receiver can recognise a repetition: assigned when the messages are first claimed together.
    package let id: String

    /// Of one receiver; at least one message.
    package init(_ messages: [AlertNotification], id: String) {
        self.id = id
        self.messages = messages.sorted { a, b in
            (a.kind == .firing ? 0 : 1, Self.rank(a), a.startsAt, a.id) < (b.kind == .firing ? 0 : 1, Self.rank(b), b.startsAt, b.id)
        }
    }

    package var receiver: String { messages[0].receiver }
    package var externalURL: String { messages[0].externalURL }
    package var isFiring: Bool { messages.contains { $0.kind == .firing } }

    private static func rank(_ message: AlertNotification) -> Int { Severity.allCases.firstIndex(of: message.severity) ?? 0 }
}
