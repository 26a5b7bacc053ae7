package import AlertRules

/// How long a notification that is no page waits for others, to be sent together with them.
package struct NotificationGrouping: Sendable, Hashable {
    /// Counted from the first of them.
    package var wait: RuleDuration = RuleDuration(minutes: 1)
    /// From one grouped notification to the next.
    package var interval: RuleDuration = RuleDuration(minutes: 5)
}

extension ReceiverSet {
    /// The receivers whose notifications are grouped.
    var groupings: [(receiver: String, grouping: NotificationGrouping)] {
        receivers.compactMap { configured in
            guard configured.receiver.supportsGrouping, let grouping = configured.policy.grouping else { return nil }
            return (configured.name, grouping)
        }
    }
}
