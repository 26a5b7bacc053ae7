package import AlertRules

/// How long what is no page waits for others, to be told together with them.
package struct NotificationGrouping: Sendable, Hashable {
    /// From the first of them.
    package var wait: RuleDuration
    /// From one such message to the next.
    package var interval: RuleDuration

    package init(wait: RuleDuration = RuleDuration(minutes: 1), interval: RuleDuration = RuleDuration(minutes: 5)) {
        self.wait = wait
        self.interval = interval
    }
}

extension ReceiverConfiguration.Kind {
    /// One message may tell several alerts. Elsewhere each alert has an incident, a thread or an identity of its own.
    package var supportsGrouping: Bool {
        switch self {
        case .webhook, .slack, .ntfy, .email: true
        case .slackBot, .pagerDuty, .alertmanager, .log: false
        }
    }
}

extension ReceiverSet {
    /// The receivers that are told of several alerts in one message.
    var groupings: [(receiver: String, grouping: NotificationGrouping)] {
        receivers.compactMap { receiver in
            guard receiver.kind.supportsGrouping, let grouping = receiver.policy.grouping else { return nil }
            return (receiver.name, grouping)
        }
    }
}
