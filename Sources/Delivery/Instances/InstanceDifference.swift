import PushContract

/// What running instances should agree about, and do not.
package struct InstanceDifference: Sendable, Hashable, Codable {
    package struct Side: Sendable, Hashable, Codable {
        package var value: String
        /// Names of instances.
        package var instances: [String]
    }

    /// `version`, or `credentials of apns`.
    package var subject: String
    package var sides: [Side]

    /// Credentials are compared among instances that use them: others keep what they loaded at their start.
    package static func all(of instances: [Instance]) -> [InstanceDifference] {
        let using = instances.filter(\.usesCredentials)
        return [difference("version", instances) { $0.version }].compactMap { $0 }
            + Provider.allCases.compactMap { provider in
                difference("credentials of \(provider.rawValue)", using) { instance in
                    let ids = instance.credentials.filter { $0.provider == provider }.map(\.id).sorted()
                    return ids.isEmpty ? "none" : ids.joined(separator: ", ")
                }
            }
    }

    private static func difference(_ subject: String, _ instances: [Instance], _ value: (Instance) -> String) -> InstanceDifference? {
        let sides = Dictionary(grouping: instances, by: value)
        guard sides.count > 1 else { return nil }
        return InstanceDifference(
            subject: subject,
            sides: sides.sorted { $0.key < $1.key }.map { Side(value: $0.key, instances: $0.value.map(\.name).sorted()) }
        )
    }

    /// `version differs: 0.1.0 (a 1234abcd), 0.2.0 (b 5678cdef)`
    package var summary: String {
        "\(subject) \(subject == "version" ? "differs" : "differ"): "
            + sides.map { "\($0.value) (\($0.instances.joined(separator: ", ")))" }.joined(separator: "; ")
    }
}
