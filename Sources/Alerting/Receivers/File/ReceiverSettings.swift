import HTTPClient
import Foundation
import Yams

/// A receiver of `receivers.yml`: its name and exactly one kind.
struct ReceiverSettings {
    static let kinds = ["webhook", "slack", "pagerduty", "ntfy", "alertmanager", "email", "log"]

    let yaml: ReceiverYAML

    func receiver(_ node: Node) throws -> ReceiverConfiguration {
        let keys = try yaml.mapping(node, keys: ["name"] + Self.kinds + PolicySettings.keys)
        let name = try yaml.text(keys["name"], of: "name", at: node)
        guard name.count <= 100, name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }) else {
            throw yaml.fault(keys["name"] ?? node, "a receiver's name has up to 100 letters, digits, '.', '_' and '-'")
        }
        let given = Self.kinds.filter { keys[$0] != nil }
        guard given.count == 1, let settings = keys[given[0]] else {
            throw yaml.fault(node, "the receiver '\(name)' needs exactly one of \(Self.kinds.joined(separator: ", "))")
        }
        let kind = try kind(given[0], settings)
        let policy = try PolicySettings(yaml: yaml).policy(keys, kind: given[0], supportsGrouping: kind.supportsGrouping, at: node)
        return ReceiverConfiguration(name: name, kind: kind, policy: policy)
    }

    private func kind(_ kind: String, _ node: Node) throws -> ReceiverConfiguration.Kind {
        switch kind {
        case "webhook": try webhook(node)
        case "slack": try slack(node)
        case "pagerduty": try pagerDuty(node)
        case "ntfy": try ntfy(node)
        case "alertmanager": try alertmanager(node)
        case "email": .email(try MailboxSettings(yaml: yaml).mailbox(node))
        default: try log(node)
        }
    }

    private func webhook(_ node: Node) throws -> ReceiverConfiguration.Kind {
        let keys = try yaml.mapping(node, keys: ["url", "secret"])
        return .webhook(
            url: try yaml.url(keys["url"], of: "webhook.url", at: node),
            secret: try yaml.optionalText(keys["secret"], of: "webhook.secret", at: node)
        )
    }

    private func slack(_ node: Node) throws -> ReceiverConfiguration.Kind {
        let keys = try yaml.mapping(node, keys: ["url", "token", "channel"])
        guard keys["token"] != nil else { return .slack(url: try yaml.url(keys["url"], of: "slack.url", at: node)) }
        return .slackBot(
            token: try yaml.text(keys["token"], of: "slack.token", at: node),
            channel: try yaml.text(keys["channel"], of: "slack.channel", at: node),
            url: try keys["url"].map { try yaml.url($0, of: "slack.url", at: node) } ?? SlackBotReceiver.standardURL
        )
    }

    private func pagerDuty(_ node: Node) throws -> ReceiverConfiguration.Kind {
        let keys = try yaml.mapping(node, keys: ["routing_key", "url"])
        let key = try yaml.text(keys["routing_key"], of: "pagerduty.routing_key", at: node)
        guard key.count == 32 || key.contains(ReceiverYAML.unknown) else {
            throw yaml.fault(keys["routing_key"] ?? node, "pagerduty.routing_key has 32 characters: the integration key of Events API v2")
        }
        let url = try keys["url"].map { try yaml.url($0, of: "pagerduty.url", at: node) }
        return .pagerDuty(routingKey: key, url: url ?? PagerDutyReceiver.standardURL)
    }

    private func ntfy(_ node: Node) throws -> ReceiverConfiguration.Kind {
        let keys = try yaml.mapping(node, keys: ["topic", "server", "token"])
        let topic = try yaml.text(keys["topic"], of: "ntfy.topic", at: node)
        let isName = topic.count <= 64 && topic.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-".contains($0)) }
        guard isName || topic.contains(ReceiverYAML.unknown) else {
            throw yaml.fault(keys["topic"] ?? node, "ntfy.topic has up to 64 letters, digits, '_' and '-'")
        }
        return .ntfy(
            server: try keys["server"].map { try yaml.url($0, of: "ntfy.server", at: node) } ?? NtfyReceiver.standardServer,
            topic: topic,
            token: try yaml.optionalText(keys["token"], of: "ntfy.token", at: node)
        )
    }

    private func alertmanager(_ node: Node) throws -> ReceiverConfiguration.Kind {
        let keys = try yaml.mapping(node, keys: ["members", "user", "password"])
        let members = try yaml.list(keys["members"]).map { try yaml.url($0, of: "alertmanager.members", at: node) }
        guard !members.isEmpty else { throw yaml.fault(node, "alertmanager.members lists the URL of every member of the cluster") }
        if let path = zip(members, try yaml.list(keys["members"])).first(where: { $0.0.contains("/api/v") }) {
            throw yaml.fault(path.1, "a member's URL ends before /api/v2/alerts, which is added")
        }
        return .alertmanager(
            AlertmanagerCluster(
                members: members,
                user: try yaml.optionalText(keys["user"], of: "alertmanager.user", at: node),
                password: try yaml.optionalText(keys["password"], of: "alertmanager.password", at: node)
            )
        )
    }

    private func log(_ node: Node) throws -> ReceiverConfiguration.Kind {
        _ = try yaml.mapping(node, keys: [])
        return .log
    }
}
