extension ReceiverKind {
    static let pagerDuty = ReceiverKind(key: "pagerduty") { name, node, yaml in
        let keys = try yaml.mapping(node, keys: ["routing_key", "url"])
        let key = try yaml.text(keys["routing_key"], of: "pagerduty.routing_key", at: node)
        guard key.count == 32 || key.contains(ReceiverYAML.unknown) else {
            throw yaml.fault(keys["routing_key"] ?? node, "pagerduty.routing_key has 32 characters: the integration key of Events API v2")
        }
        let url = try keys["url"].map { try yaml.url($0, of: "pagerduty.url", at: node) }
        return PagerDutyReceiver(name: name, routingKey: key, url: url ?? PagerDutyReceiver.standardURL)
    }
}
