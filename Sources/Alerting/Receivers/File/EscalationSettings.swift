import AlertRules
import Yams

/// Reads `escalate` of `receivers.yml`.
struct EscalationSettings {
    let yaml: ReceiverYAML
    let receivers: RouteSettings
    let duties: [String: DutyRotation]

    /// Nil without `escalate`.
    func policy(_ node: Node?, duty: Node?) throws -> EscalationPolicy? {
        guard let node else {
            if let duty { throw yaml.fault(duty, "'duty' is for steps of 'escalate', which is missing") }
            return nil
        }
        let keys = try yaml.mapping(node, keys: ["unconfirmed", "unacknowledged", "steps"])
        let steps = try yaml.list(keys["steps"])
        guard !steps.isEmpty else { throw yaml.fault(keys["steps"] ?? node, "escalate needs steps") }
        let policy = EscalationPolicy(
            unconfirmedAfter: try duration(keys["unconfirmed"], "unconfirmed") ?? .seconds(120),
            unacknowledgedAfter: try duration(keys["unacknowledged"], "unacknowledged") ?? .seconds(900),
            steps: try steps.enumerated().map { try step($1, isFirst: $0 == 0) }
        )
        let used = steps.compactMap { $0["duty"]?.scalar?.string }
        if let unused = duties.keys.sorted().first(where: { !used.contains($0) }), let duty {
            throw yaml.fault(duty[unused] ?? duty, "no step of escalate names the duty list '\(unused)'")
        }
        return policy
    }

    private func step(_ node: Node, isFirst: Bool) throws -> EscalationPolicy.Step {
        let keys = try yaml.mapping(node, keys: ["receivers", "duty", "wait"])
        var names: [String] = []
        for node in try yaml.list(keys["receivers"]) {
            let name = try receivers.receiver(node)
            guard !names.contains(name) else { throw yaml.fault(node, "the step names the receiver '\(name)' twice") }
            names.append(name)
        }
        if let wait = keys["wait"], isFirst {
            throw yaml.fault(wait, "the first step waits for 'unconfirmed' or 'unacknowledged'; remove wait")
        }
        let rotation = try keys["duty"].map { duty in
            guard let name = duty.scalar?.string, let rotation = duties[name] else {
                let known = duties.keys.sorted().joined(separator: ", ")
                throw yaml.fault(duty, "there is no duty list '\(duty.scalar?.string ?? "?")'; defined: \(known)")
            }
            return rotation
        }
        guard !names.isEmpty || rotation != nil else { throw yaml.fault(node, "a step needs receivers or duty") }
        return EscalationPolicy.Step(receivers: names, duty: rotation, wait: try duration(keys["wait"], "wait"))
    }

    private func duration(_ node: Node?, _ key: String) throws -> Duration? {
        guard let node else { return nil }
        guard let duration = node.scalar.flatMap({ RuleDuration($0.string) }), duration.minutes <= 1440 else {
            throw yaml.fault(node, "\(key) is a duration from 1m to 1d, such as 15m")
        }
        return .seconds(Int64(duration.minutes) * 60)
    }
}
