extension ReceiverKind {
    static let ntfy = ReceiverKind(key: "ntfy") { name, node, yaml in
        let keys = try yaml.mapping(node, keys: ["topic", "server", "token"])
        let topic = try yaml.text(keys["topic"], of: "ntfy.topic", at: node)
        let isName = topic.count <= 64 && topic.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-".contains($0)) }
        guard isName || topic.contains(ReceiverYAML.unknown) else {
            throw yaml.fault(keys["topic"] ?? node, "ntfy.topic has up to 64 letters, digits, '_' and '-'")
        }
        return NtfyReceiver(
            name: name,
            topic: topic,
            server: try keys["server"].map { try yaml.url($0, of: "ntfy.server", at: node) } ?? NtfyReceiver.standardServer,
            token: try yaml.optionalText(keys["token"], of: "ntfy.token", at: node)
        )
    }
}
