extension ReceiverKind {
    /// An incoming webhook (`url`), or an app that edits its messages (`token` and `channel`).
    static let slack = ReceiverKind(key: "slack") { name, node, yaml in
        let keys = try yaml.mapping(node, keys: ["url", "token", "channel"])
        guard keys["token"] != nil else { return SlackReceiver(name: name, url: try yaml.url(keys["url"], of: "slack.url", at: node)) }
        return SlackBotReceiver(
            name: name,
            token: try yaml.text(keys["token"], of: "slack.token", at: node),
            channel: try yaml.text(keys["channel"], of: "slack.channel", at: node),
            url: try keys["url"].map { try yaml.url($0, of: "slack.url", at: node) } ?? SlackBotReceiver.standardURL
        )
    }
}
