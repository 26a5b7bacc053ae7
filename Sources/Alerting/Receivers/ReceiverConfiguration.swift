import Foundation

/// Where alerts can go, as configured.
package struct ReceiverConfiguration: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// Alertmanager's webhook body, version 4. With a secret, signed after Standard Webhooks.
        case webhook(url: String, secret: String?)
        /// A Slack incoming webhook.
        case slack(url: String)
        /// A Slack app, which edits its messages.
        case slackBot(token: String, channel: String, url: String)
        /// PagerDuty's Events API v2.
        case pagerDuty(routingKey: String, url: String)
        /// A topic of an ntfy server.
        case ntfy(server: String, topic: String, token: String?)
        /// Alertmanager's API v2.
        case alertmanager(AlertmanagerCluster)
        case email(Mailbox)
        /// A line in the service's log.
        case log
    }

    package var name: String
    package var kind: Kind
    package var policy = ReceiverPolicy()

    package init(name: String, kind: Kind, policy: ReceiverPolicy = ReceiverPolicy()) {
        self.name = name
        self.kind = kind
        self.policy = policy
    }

    package static func webhook(_ name: String, url: String, secret: String? = nil) -> ReceiverConfiguration {
        ReceiverConfiguration(name: name, kind: .webhook(url: url, secret: secret))
    }

    package static let log = ReceiverConfiguration(name: "log", kind: .log)

    /// Texts that must not be stored or logged.
    var secrets: [String] {
        let texts: [String?] =
            switch kind {
            case .webhook(let url, let secret): [secret, Self.query(url)]
            case .slack(let url): [url, Self.path(url)]
            case .slackBot(let token, _, _): [token]
            case .pagerDuty(let routingKey, _): [routingKey]
            // Whoever knows a topic of ntfy.sh can read and write it.
            case .ntfy(_, let topic, let token): [token, topic]
            case .alertmanager(let cluster): [cluster.password, cluster.credentials]
            case .email(let mailbox): [mailbox.password, mailbox.password.map { Data($0.utf8).base64EncodedString() }]
            case .log: []
            }
        return texts.compactMap { $0 }
    }

    private static func query(_ url: String) -> String? { url.split(separator: "?", maxSplits: 1).dropFirst().first.map(String.init) }

    /// All that follows the host.
    private static func path(_ url: String) -> String? { url.split(separator: "/", maxSplits: 2).dropFirst(2).first.map(String.init) }
}
