/// What a rule did in a test, in minutes from its start.
struct ObservedAlert {
    var group: GroupKey
    var fires: Int
    var resolves: Int?
    var starts: Int
    var ends: Int?
    var severity: Severity
    var level: Evidence.Level
    var annotations: [String: String]

    func differences(from expected: RuleTest.ExpectedAlert) -> [String] {
        var differences: [String] = []
        func compare<Value: Equatable>(_ name: String, _ expected: Value?, _ observed: Value?, _ text: (Value) -> String) {
            guard expected != observed else { return }
            let (want, got) = (expected.map(text) ?? "never", observed.map(text) ?? "never")
            differences.append("\(group), fired at \(Self.time(fires)): expected \(name) \(want), got \(got)")
        }
        compare("resolves", expected.resolves, resolves, Self.time)
        if let starts = expected.starts { compare("starts", starts, self.starts, Self.time) }
        if let ends = expected.ends { compare("ends", ends, self.ends, Self.time) }
        if let severity = expected.severity { compare("severity", severity, self.severity, \.rawValue) }
        if let level = expected.level { compare("level", level, self.level, \.rawValue) }
        for (key, text) in expected.annotations.sorted(by: { $0.key < $1.key }) {
            compare("annotation \(key)", text, annotations[key]) { "'\($0)'" }
        }
        return differences
    }

    var description: String {
        "\(group) fired at \(Self.time(fires)) and " + (resolves.map { "resolved at \(Self.time($0))" } ?? "did not resolve")
    }

    private static func time(_ minutes: Int) -> String { RuleDuration(minutes: minutes).description }
}
