import Synchronization

/// Carries what the provider simulator accepted to the simulated phones: by token, or by broadcast channel.
///
/// Delivery only fills a phone's mailbox; the phone looks into it when it is stepped. Safe to use from any thread.
package final class PhoneNetwork: Sendable {
    /// What arrived at one phone and was not looked at yet.
    package final class Mailbox: Sendable {
        private let pushes = Mutex<[RecordedRequest]>([])

        func put(_ push: RecordedRequest) { pushes.withLock { $0.append(push) } }

        func takeAll() -> [RecordedRequest] {
            pushes.withLock { pushes in
                defer { pushes = [] }
                return pushes
            }
        }
    }

    private struct Routes {
        var tokens: [String: Mailbox] = [:]
        var channels: [String: [ObjectIdentifier: Mailbox]] = [:]
    }

    private let routes = Mutex(Routes())

    package init() {}

    /// From now on pushes to this token go there.
    func route(token: String, to mailbox: Mailbox) { routes.withLock { $0.tokens[SimulatorState.canonical(token)] = mailbox } }

    /// The token belongs to no installation any more.
    func unroute(token: String) { routes.withLock { $0.tokens[SimulatorState.canonical(token)] = nil } }

    func join(channel: String, mailbox: Mailbox) {
        routes.withLock { $0.channels[channel, default: [:]][ObjectIdentifier(mailbox)] = mailbox }
    }

    /// Called by the simulator for each push it accepted.
    func deliver(_ push: RecordedRequest) {
        guard push.provider == .apns else { return }
        let mailboxes = routes.withLock { routes -> [Mailbox] in
            // First: the log names the channel of a broadcast as its token.
            if let channel = push.header("apns-channel-id") { return routes.channels[channel].map { Array($0.values) } ?? [] }
            guard let token = push.token else { return [] }
            return [routes.tokens[token]].compactMap { $0 }
        }
        for mailbox in mailboxes { mailbox.put(push) }
    }
}
