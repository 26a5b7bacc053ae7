import Crypto

/// Derives a rule's version from everything that its decisions depend on, effective defaults included.
enum RuleVersion {
    /// Twelve hex digits. A renamed rule is another rule; new words in annotations or labels are the same rule.
    static func of(name: String, condition: RuleCondition, by: [Dimension]) -> String {
        let by = by.map(\.rawValue).sorted().joined(separator: ",")
        let lines = ["name=\(name)", "definition=\(condition.definition)", "by=\(by)"] + settings(of: condition)
        let digest = SHA256.hash(data: Array(lines.joined(separator: "\n").utf8))
        return digest.prefix(6).map { byte in
            let hex = String(byte, radix: 16)
            return hex.count == 1 ? "0" + hex : hex
        }.joined()
    }

    private static func settings(of condition: RuleCondition) -> [String] {
        let filter = condition.of.allowed.sorted { $0.key < $1.key }
            .map { "of.\($0.key.rawValue)=\($0.value.joined(separator: ","))" }
        let shared = ["reason=\(condition.reasons.joined(separator: ","))", "above=\(condition.threshold.versionText)"] + filter
        return shared + condition.base.versionSettings
    }
}

extension Fraction {
    /// As part of a rule's version.
    var versionText: String { "\(numerator)/\(denominator)" }
}
