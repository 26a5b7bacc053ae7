import AlertRules
import PushContract

/// What became of a receiver's newest messages.
struct ReceiverFailure: Sendable, Hashable {
    /// A message that was refused longer ago than this raises no alert any more.
    static let horizon = Duration.seconds(86_400)

    var receiver: String
    /// When a message was last refused for good, and how many were within the horizon.
    var deadLetteredAt: Timestamp
    var deadLettered: Int64
    var lastError: String?
    /// The severity of the most severe alert among them; a ticket where they are about the end of pages.
    var severity: Severity
    /// When a message last arrived.
    var deliveredAt: Timestamp?

    /// From a refusal to the next message that arrives.
    func isFiring(wasFiring: Bool, at now: Timestamp) -> Bool {
        if let deliveredAt, deliveredAt > deadLetteredAt { return false }
        return wasFiring || now - deadLetteredAt < Self.horizon
    }
}

extension ReceiverSet {
    /// The receivers that are notified that `failing` receivers do not work: those of the route, or all others when the route leads to no other
    /// than a log.
    func names(for severity: Severity, rule: String = "", labels: [String: String] = [:], except failing: Set<String>) -> [String] {
        let logs = Set(receivers.filter { !$0.receiver.reachesPeople }.map(\.name))
        let routed = names(for: severity, rule: rule, labels: labels).filter { !failing.contains($0) }
        guard routed.allSatisfy(logs.contains) else { return routed }
        return receivers.map(\.name).filter { !failing.contains($0) }
    }
}
