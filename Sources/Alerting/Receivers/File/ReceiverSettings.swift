import Yams

/// Reads a receiver of `receivers.yml`: its name, exactly one kind, and its policy.
struct ReceiverSettings {
    let yaml: ReceiverYAML

    func receiver(_ node: Node) throws -> ReceiverConfiguration {
        let kinds = ReceiverKind.all.map(\.key)
        let keys = try yaml.mapping(node, keys: ["name"] + kinds + PolicySettings.keys)
        let name = try yaml.text(keys["name"], of: "name", at: node)
        guard name.count <= 100, name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }) else {
            throw yaml.fault(keys["name"] ?? node, "a receiver's name has up to 100 letters, digits, '.', '_' and '-'")
        }
        let given = ReceiverKind.all.filter { keys[$0.key] != nil }
        guard given.count == 1, let settings = keys[given[0].key] else {
            throw yaml.fault(node, "the receiver '\(name)' needs exactly one of \(kinds.joined(separator: ", "))")
        }
        let receiver = try given[0].read(name, settings, yaml)
        let policy = try PolicySettings(yaml: yaml).policy(keys, kind: given[0].key, receiver: receiver)
        return ReceiverConfiguration(receiver, policy: policy)
    }
}
