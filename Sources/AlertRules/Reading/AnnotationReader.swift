/// Reads `annotations:`. A rule without `action` is an error.
struct AnnotationReader {
    let rule: MappingReader
    let by: [Dimension]

    func annotations() -> RuleAnnotations? {
        guard rule.has("annotations") else {
            rule.missing("annotations", "give 'summary', 'action' and 'runbook'")
            return nil
        }
        guard let reader = rule.mapping("annotations", known: nil) else { return nil }
        let summary = required(reader, "summary", "one line that says what broke")
        let action = required(reader, "action", "what on-call does now")
        let runbook = runbook(reader)
        let meaning = template(reader, "meaning")
        if !reader.has("meaning") {
            reader.findings.warning(at: reader.position, key: reader.name("meaning"), "missing; say what it means for people")
        }
        var others: [String: AnnotationTemplate] = [:]
        for key in reader.keys where !["summary", "action", "runbook", "meaning"].contains(key) {
            others[key] = template(reader, key)
        }
        guard let summary, let action, let runbook else { return nil }
        return RuleAnnotations(summary: summary, meaning: meaning, action: action, runbook: runbook, others: others)
    }

    private func required(_ reader: MappingReader, _ key: String, _ why: String) -> AnnotationTemplate? {
        guard reader.has(key) else {
            reader.missing(key, why)
            return nil
        }
        return template(reader, key)
    }

    private func template(_ reader: MappingReader, _ key: String) -> AnnotationTemplate? {
        guard let text = reader.text(key) else { return nil }
        do throws(AnnotationTemplate.Fault) {
            return try AnnotationTemplate(text, by: by)
        } catch {
            reader.error(key, error.message)
            return nil
        }
    }

    private func runbook(_ reader: MappingReader) -> String? {
        guard reader.has("runbook") else {
            reader.missing("runbook", "a file below the alerts directory, such as runbooks/provider-5xx.md, or an https address")
            return nil
        }
        return reader.value("runbook", "a file below the alerts directory or an https address") { text in
            if text.hasPrefix("https://") || text.hasPrefix("http://") { return text }
            let steps = text.split(separator: "/", omittingEmptySubsequences: false)
            return steps.contains("..") || steps.contains("") ? nil : text
        }
    }
}
