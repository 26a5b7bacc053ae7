extension ReceiverKind {
    static let alertmanager = ReceiverKind(key: "alertmanager") { name, node, yaml in
        let keys = try yaml.mapping(node, keys: ["members", "user", "password"])
        let members = try yaml.list(keys["members"]).map { try yaml.url($0, of: "alertmanager.members", at: node) }
        guard !members.isEmpty else { throw yaml.fault(node, "alertmanager.members lists the URL of every member of the cluster") }
        if let path = zip(members, try yaml.list(keys["members"])).first(where: { $0.0.contains("/api/v") }) {
            throw yaml.fault(path.1, "a member's URL ends before /api/v2/alerts, which is added")
        }
        let cluster = AlertmanagerCluster(
            members: members,
            user: try yaml.optionalText(keys["user"], of: "alertmanager.user", at: node),
            password: try yaml.optionalText(keys["password"], of: "alertmanager.password", at: node)
        )
        return AlertmanagerReceiver(name: name, cluster: cluster)
    }
}
