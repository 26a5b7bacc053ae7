/// A configured receiver, and when and how often it is notified.
package struct ReceiverConfiguration: Sendable {
    package var receiver: any AlertReceiver
    package var policy: ReceiverPolicy

    package var name: String { receiver.name }

    package init(_ receiver: any AlertReceiver, policy: ReceiverPolicy = ReceiverPolicy()) {
        self.receiver = receiver
        self.policy = policy
    }
}

extension ReceiverConfiguration: Hashable {
    package static func == (a: Self, b: Self) -> Bool {
        AnyHashable(a.receiver) == AnyHashable(b.receiver) && a.policy == b.policy
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(AnyHashable(receiver))
        hasher.combine(policy)
    }
}
