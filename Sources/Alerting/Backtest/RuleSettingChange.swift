import AlertRules

/// A changed key of a rule that decides about receivers: it does not change when the rule fires.
package struct RuleSettingChange: Sendable, Hashable, CustomStringConvertible {
    package var key: String
    package var old: String
    package var new: String

    package var description: String { "\(key): \(old) → \(new)" }

    /// `receivers`: the receivers of both directories; nil when one of them has none.
    static func between(_ old: AlertRule, _ new: AlertRule, _ receivers: (old: ReceiverSet, new: ReceiverSet)?) -> [RuleSettingChange] {
        var changes = [
            RuleSettingChange(key: "severity", old: old.severity.rawValue, new: new.severity.rawValue),
            RuleSettingChange(key: "labels", old: labels(old), new: labels(new)),
            RuleSettingChange(key: "suppressed_by", old: list(old.suppressedBy.sorted()), new: list(new.suppressedBy.sorted())),
        ]
        if let receivers {
            changes.append(
                RuleSettingChange(key: "receivers", old: receiverNames(old, receivers.old), new: receiverNames(new, receivers.new))
            )
        }
        return changes.filter { $0.old != $0.new }
    }

    private static func labels(_ rule: AlertRule) -> String {
        list(rule.labels.filter { $0.key != "severity" }.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })
    }

    /// By the rule's own labels: a route may also match labels of a group, which are not available here.
    private static func receiverNames(_ rule: AlertRule, _ receivers: ReceiverSet) -> String {
        var labels = rule.labels
        labels["alertname"] = rule.name
        return list(receivers.names(for: rule.severity, rule: rule.name, labels: labels))
    }

    private static func list(_ texts: [String]) -> String { texts.isEmpty ? "none" : texts.joined(separator: ", ") }
}
