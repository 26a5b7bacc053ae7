package import HTTPClient
import Yams

extension ReceiverKind {
    /// Alertmanager's webhook body, version 4. With a secret, requests are signed as Standard Webhooks defines.
    static let webhook = ReceiverKind(key: "webhook") { name, node, yaml in
        let keys = try yaml.mapping(node, keys: ["url", "secret"])
        return WebhookReceiver(
            name: name,
            url: try yaml.url(keys["url"], of: "webhook.url", at: node),
            secret: try keys["secret"].flatMap { try secret($0, of: node, yaml) }
        )
    }

    private static func secret(_ value: Node, of node: Node, _ yaml: ReceiverYAML) throws -> WebhookSecret? {
        let text = try yaml.text(value, of: "webhook.secret", at: node)
        guard !text.contains(ReceiverYAML.unknown) else { return nil }
        do {
            return try WebhookSecret(text)
        } catch {
            throw yaml.fault(value, "webhook.secret: \(error)")
        }
    }
}

extension ReceiverConfiguration {
    package static func webhook(_ name: String, url: String, secret: WebhookSecret? = nil) -> ReceiverConfiguration {
        ReceiverConfiguration(WebhookReceiver(name: name, url: url, secret: secret))
    }
}
