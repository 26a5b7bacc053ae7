import AlertRules
import PushContract

/// The newest messages that a receiver rejected.
struct ReceiverFailure: Sendable, Hashable {
    /// A message that was rejected longer ago than this raises no alert.
    static let horizon = Duration.seconds(86_400)

    var receiver: String
    /// When a message was last rejected permanently, and how many were within the horizon.
    var deadLetteredAt: Timestamp
    var deadLettered: Int64
    var lastError: String?
    /// The severity of the most severe alert among them; a ticket where they are about the end of pages.
    var severity: Severity
    /// When a message was last delivered.
    var deliveredAt: Timestamp?

    /// From a rejection to the next message that is delivered.
    func isFiring(wasFiring: Bool, at now: Timestamp) -> Bool {
        if let deliveredAt, deliveredAt > deadLetteredAt { return false }
        return wasFiring || now - deadLetteredAt < Self.horizon
    }
}

extension ReceiverSet {
    /// The receivers that are notified that `failing` receivers do not work: those of the route, or all others when the route has only
    /// those and logs.
    func names(for severity: Severity, rule: String = "", labels: [String: String] = [:], except failing: Set<String>) -> [String] {
        let logs = Set(receivers.filter { !$0.receiver.reachesPeople }.map(\.name))
        let routed = names(for: severity, rule: rule, labels: labels).filter { !failing.contains($0) }
        guard routed.allSatisfy(logs.contains) else { return routed }
        return receivers.map(\.name).filter { !failing.contains($0) }
    }
}
