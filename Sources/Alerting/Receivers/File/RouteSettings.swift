import AlertRules
import Yams

/// A route of `receivers.yml`.
struct RouteSettings {
    let yaml: ReceiverYAML
    let known: [String]

    func route(_ node: Node) throws -> AlertRoute {
        let keys = try yaml.mapping(node, keys: ["severity", "rule", "labels", "receivers"])
        let severities = try yaml.list(keys["severity"]).map { node -> Severity in
            guard let severity = Severity(rawValue: node.scalar?.string ?? "") else {
                throw yaml.fault(node, "unknown severity; known: \(Severity.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            return severity
        }
        let rules = try yaml.list(keys["rule"]).map { node -> String in
            guard let name = node.scalar?.string, !name.isEmpty else {
                throw yaml.fault(node, "expected the name of a rule, * for any text")
            }
            return name
        }
        let receivers = try yaml.list(keys["receivers"]).map(receiver)
        guard !receivers.isEmpty else { throw yaml.fault(node, "a route needs receivers") }
        return AlertRoute(severities: Set(severities), rules: rules, labels: try yaml.texts(keys["labels"]), receivers: receivers)
    }

    func receiver(_ node: Node) throws -> String {
        guard let name = node.scalar?.string, known.contains(name) else {
            throw yaml.fault(node, "there is no receiver '\(node.scalar?.string ?? "?")'; defined: \(known.joined(separator: ", "))")
        }
        return name
    }
}
