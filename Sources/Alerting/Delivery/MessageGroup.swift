import AlertRules
import Crypto
import Foundation
import PushContract

/// Several alerts, none of which is a page, for one receiver in one message.
package struct MessageGroup: Sendable, Hashable {
    /// What fires first, the most severe first, then the oldest.
    package let messages: [AlertMessage]

    /// Of one receiver; at least one message.
    package init(_ messages: [AlertMessage]) {
        self.messages = messages.sorted { a, b in
            (a.kind == .firing ? 0 : 1, Self.rank(a), a.startsAt, a.id) < (b.kind == .firing ? 0 : 1, Self.rank(b), b.startsAt, b.id)
        }
    }

    /// The same as long as the message tells the same, so that a receiver can recognise a repetition.
    package var id: String {
        let digest = SHA256.hash(data: Data(messages.map(\.id).sorted().joined(separator: "\n").utf8))
        return "group-" + digest.prefix(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    package var receiver: String { messages[0].receiver }
    package var externalURL: String { messages[0].externalURL }
    package var isFiring: Bool { messages.contains { $0.kind == .firing } }

    private static func rank(_ message: AlertMessage) -> Int { Severity.allCases.firstIndex(of: message.severity) ?? 0 }
}
