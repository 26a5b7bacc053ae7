extension ReceiverKind {
    /// Alertmanager's webhook body, version 4. With a secret, requests are signed as Standard Webhooks defines.
    static let webhook = ReceiverKind(key: "webhook") { name, node, yaml in
        let keys = try yaml.mapping(node, keys: ["url", "secret"])
        return WebhookReceiver(
            name: name,
            url: try yaml.url(keys["url"], of: "webhook.url", at: node),
            secret: try yaml.optionalText(keys["secret"], of: "webhook.secret", at: node)
        )
    }
}

extension ReceiverConfiguration {
    package static func webhook(_ name: String, url: String, secret: String? = nil) -> ReceiverConfiguration {
        ReceiverConfiguration(WebhookReceiver(name: name, url: url, secret: secret))
    }
}
