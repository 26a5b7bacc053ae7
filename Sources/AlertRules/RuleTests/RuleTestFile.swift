import Yams

/// Reads rule tests (`alerts/tests/*.yml`).
package enum RuleTestFile {
    /// The tests that can be run; everything else becomes findings.
    package static func read(_ sources: [SourceText], rules: [AlertRule]) -> (tests: [RuleTest], findings: [Finding]) {
        let collector = FindingCollector()
        let byName = Dictionary(rules.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let tests = sources.flatMap { RuleTestReader(source: $0, rules: byName, findings: collector).tests() }
        return (tests, collector.findings.sorted())
    }
}

struct RuleTestReader {
    static let testKeys = ["name", "alert", "input", "silences", "unreachable", "acknowledged", "expect"]
    static let expectKeys = ["group", "fires", "resolves", "starts", "ends", "severity", "level", "annotations", "notified"]

    let source: SourceText
    let rules: [String: AlertRule]
    let findings: FindingCollector

    func tests() -> [RuleTest] {
        guard let root = YAMLDocument.root(of: source, findings: findings),
            let file = MappingReader(root, at: source.start, path: "", known: ["tests"], findings: findings)
        else { return [] }
        if !file.has("tests") { file.missing("tests", "a test file is a list of tests") }
        return file.list("tests").compactMap(test)
    }

    private func test(_ node: Node) -> RuleTest? {
        let before = findings.errorCount
        guard let reader = MappingReader(node, at: source.start, path: "", known: Self.testKeys, findings: findings) else { return nil }
        for key in ["name", "alert", "input"] where !reader.has(key) { reader.missing(key, "every test has it") }
        let name = reader.text("name")
        let rule = reader.text("alert").flatMap { namedRule($0, reader) }
        let input = reader.list("input").compactMap(series)
        guard let name, let rule, findings.errorCount == before else { return nil }
        let expected = reader.list("expect").compactMap { alert($0, by: rule.by) }
        let test = RuleTest(
            name: name,
            rule: rule,
            position: reader.position,
            input: input,
            expected: expected,
            events: events(reader),
            rules: rules
        )
        guard findings.errorCount == before else { return nil }
        for key in ["silences", "unreachable", "acknowledged"] where reader.has(key) && !expected.contains(where: { $0.notified != nil }) {
            reader.error(key, "changes whom alerts notify, and this test expects nothing of that: add `notified` to an alert of `expect`")
        }
        return findings.errorCount == before ? test : nil
    }

    private func events(_ reader: MappingReader) -> RuleTest.Events {
        RuleTest.Events(
            silences: reader.list("silences").compactMap(silence),
            unreachable: reader.has("unreachable") ? reader.texts("unreachable").map(\.text) : [],
            acknowledged: time(reader, "acknowledged")
        )
    }

    private func silence(_ node: Node) -> RuleTest.TestSilence? {
        guard let reader = MappingReader(node, at: source.start, path: "silences", known: ["from", "to", "labels"], findings: findings)
        else {
            return nil
        }
        for key in ["from", "to", "labels"] where !reader.has(key) { reader.missing(key, "every silence has it") }
        guard let from = time(reader, "from"), let to = time(reader, "to"), let labels = reader.mapping("labels", known: nil) else {
            return nil
        }
        guard from < to else {
            reader.error("to", "a silence ends after it begins")
            return nil
        }
        return RuleTest.TestSilence(from: from, to: to, labels: texts(labels))
    }

    private func namedRule(_ name: String, _ reader: MappingReader) -> AlertRule? {
        if let rule = rules[name] { return rule }
        let hint = Nearest.name(to: name, among: Array(rules.keys)).map { "; did you mean '\($0)'?" } ?? ""
        reader.error("alert", "there is no usable rule '\(name)'\(hint)")
        return nil
    }

    private func series(_ node: Node) -> RuleTest.InputSeries? {
        guard
            let reader = MappingReader(
                node,
                at: source.start,
                path: "input",
                known: ["of", "counts", "blocked", "reason"],
                findings: findings
            )
        else {
            return nil
        }
        guard let text = reader.text("counts") else {
            if !reader.has("counts") { reader.missing("counts", "such as '100/1x60 100/6x30'") }
            return nil
        }
        do throws(RateNotation.Fault) {
            let blocked = try reader.has("blocked") ? reader.text("blocked").map(RateNotation.counts) ?? [] : []
            return RuleTest.InputSeries(
                key: key(reader, "of"),
                counts: try RateNotation.counts(text),
                blocked: blocked.map(\.attempts),
                reason: reader.value("reason", "one of \(Reasons.all.joined(separator: ", "))") { Reasons.all.contains($0) ? $0 : nil }
            )
        } catch {
            reader.error("counts", error.message)
            return nil
        }
    }

    private func key(_ reader: MappingReader, _ name: String) -> GroupKey {
        guard reader.has(name), let values = reader.mapping(name, known: Dimension.allCases.map(\.rawValue)) else { return GroupKey() }
        var key = GroupKey()
        for dimension in Dimension.allCases where values.has(dimension.rawValue) {
            let expected = dimension.allowedValues.map { "one of \($0.joined(separator: ", "))" } ?? "a text"
            key.values[dimension] = values.value(dimension.rawValue, expected) { text in
                dimension.allowedValues.map { $0.contains(text) } ?? true ? text : nil
            }
        }
        return key
    }

    private func alert(_ node: Node, by: [Dimension]) -> RuleTest.ExpectedAlert? {
        guard let reader = MappingReader(node, at: source.start, path: "expect", known: Self.expectKeys, findings: findings) else {
            return nil
        }
        guard reader.has("fires") else {
            reader.missing("fires", "say when, such as 75m: when the 75th minute closes")
            return nil
        }
        let group = key(reader, "group")
        let unknown = group.values.keys.filter { !by.contains($0) }.map(\.rawValue).sorted()
        if !unknown.isEmpty { reader.error("group", "the rule does not group by \(unknown.joined(separator: ", "))") }
        guard let fires = time(reader, "fires") else { return nil }
        return RuleTest.ExpectedAlert(
            group: group.restricted(to: by),
            fires: fires,
            resolves: time(reader, "resolves"),
            starts: time(reader, "starts"),
            ends: time(reader, "ends"),
            severity: reader.value("severity", "a severity") { Severity(rawValue: $0) },
            level: reader.value("level", "a level: threshold, learning or reference") { Evidence.Level(rawValue: $0) },
            annotations: annotations(reader),
            notified: notified(reader)
        )
    }

    private func time(_ reader: MappingReader, _ key: String) -> Int? {
        reader.value(key, "a time from the start of the test such as 75m or 1h15m (0m is the start)") { text in
            text == "0m" ? 0 : RuleDuration(text)?.minutes
        }
    }

    private func annotations(_ reader: MappingReader) -> [String: String] {
        guard reader.has("annotations"), let values = reader.mapping("annotations", known: nil) else { return [:] }
        return texts(values)
    }

    private func texts(_ values: MappingReader) -> [String: String] {
        Dictionary(values.keys.compactMap { key in values.text(key).map { (key, $0) } }, uniquingKeysWith: { first, _ in first })
    }

    /// `{ 75m: [on-call, phone] }`; `{}` is nobody.
    private func notified(_ reader: MappingReader) -> [Int: [String]]? {
        guard reader.has("notified"), let times = reader.mapping("notified", known: nil) else { return nil }
        var notified: [Int: [String]] = [:]
        for key in times.keys {
            guard let time = RuleDuration(key)?.minutes else {
                reader.error("notified", "'\(key)' is not a time from the start of the test such as 75m or 1h15m")
                continue
            }
            notified[time, default: []] += times.texts(key).map(\.text)
        }
        return notified
    }
}
