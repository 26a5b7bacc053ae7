import Yams

/// Reads rule files: `groups:` of `rules:`, named as in Prometheus rule files, with a typed condition.
struct RuleFileReader {
    static let ruleKeys = ["alert"] + ConditionKind.all.map(\.key) + ["for", "by", "labels", "annotations", "suppressed_by"]

    let source: SourceText
    let findings: FindingCollector

    /// The rules that are free of errors; everything else becomes findings.
    func rules() -> [AlertRule] {
        guard let root = YAMLDocument.root(of: source, findings: findings),
            let file = MappingReader(root, at: source.start, path: "", known: ["groups"], findings: findings)
        else { return [] }
        guard file.has("groups") else {
            file.missing("groups", "a rule file is a list of groups")
            return []
        }
        var names: Set<String> = []
        return file.list("groups").flatMap { node -> [AlertRule] in
            guard let group = MappingReader(node, at: source.start, path: "groups", known: ["name", "rules"], findings: findings) else {
                return []
            }
            guard let name = group.text("name") else {
                if !group.has("name") { group.missing("name", "name the group") }
                return []
            }
            if !names.insert(name).inserted { group.error("name", "a second group named '\(name)'") }
            if group.list("rules").isEmpty { group.error("rules", "the group has no rules") }
            return group.list("rules").compactMap { rule($0, group: name) }
        }
    }

    private func rule(_ node: Node, group: String) -> AlertRule? {
        let before = findings.errorCount
        guard let reader = MappingReader(node, at: source.start, path: "", known: Self.ruleKeys, findings: findings) else { return nil }
        let name = name(reader)
        let by = ConditionReader(rule: reader).groups()
        let condition = ConditionReader(rule: reader).condition()
        let labels = LabelReader(rule: reader)
        let annotations = AnnotationReader(rule: reader, by: by).annotations()
        let severity = labels.severity()
        let texts = labels.labels()
        let causes = SuppressionReader.causes(reader)
        guard let name, let condition, let annotations, let severity, findings.errorCount == before else { return nil }
        return AlertRule(
            name: name,
            ruleGroup: group,
            condition: condition,
            by: by,
            severity: severity,
            labels: texts,
            annotations: annotations,
            suppressedBy: causes,
            source: reader.position
        )
    }

    private func name(_ reader: MappingReader) -> String? {
        guard reader.has("alert") else {
            reader.missing("alert", "give the rule a name, such as ProviderUnavailable")
            return nil
        }
        return reader.value("alert", "a name (letters, digits and '_', beginning with a letter)") { text in
            let plain = text.utf8.allSatisfy { (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 95 }
            return plain && text.first?.isLetter == true && text.count <= 100 ? text : nil
        }
    }
}
