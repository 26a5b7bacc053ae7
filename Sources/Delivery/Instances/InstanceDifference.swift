import PushContract

/// What running instances should agree about, and do not.
package struct InstanceDifference: Sendable, Hashable, Codable {
    package struct Side: Sendable, Hashable, Codable {
        package var value: String
        /// Names of instances.
        package var instances: [String]
    }

    /// `version`, `credentials of apns` or `token keys`.
    package var subject: String
    package var sides: [Side]

    /// Credentials and token keys are compared among instances that use them: others keep what they loaded at their start.
    package static func all(of instances: [Instance]) -> [InstanceDifference] {
        let using = instances.filter(\.usesCredentials)
        var differences = [difference("version", instances) { $0.version }]
        differences += Provider.allCases.map { provider in
            difference("credentials of \(provider.rawValue)", using) { instance in
                list(instance.credentials.filter { $0.provider == provider }.map(\.id).sorted())
            }
        }
        // Which key encrypts counts; the order of the others does not.
        differences.append(difference("token keys", using) { list($0.tokenKeys.prefix(1) + $0.tokenKeys.dropFirst().sorted()) })
        return differences.compactMap { $0 }
    }

    private static func list(_ ids: some Sequence<String>) -> String {
        let text = ids.joined(separator: ", ")
        return text.isEmpty ? "none" : text
    }

    private static func difference(_ subject: String, _ instances: [Instance], _ value: (Instance) -> String) -> InstanceDifference? {
        let sides = Dictionary(grouping: instances, by: value)
        guard sides.count > 1 else { return nil }
        return InstanceDifference(
            subject: subject,
            sides: sides.sorted { $0.key < $1.key }.map { Side(value: $0.key, instances: $0.value.map(\.name).sorted()) }
        )
    }

    /// The value of the label `subject` of the metric about it.
    var label: String { subject.hasPrefix("credentials") ? "credentials" : subject.replacing(" ", with: "_") }
    static let labels = ["version", "credentials", "token_keys"]

    /// `version differs: 0.1.0 (a 1234abcd), 0.2.0 (b 5678cdef)`
    package var summary: String {
        "\(subject) \(subject == "version" ? "differs" : "differ"): "
            + sides.map { "\($0.value) (\($0.instances.joined(separator: ", ")))" }.joined(separator: "; ")
    }
}
