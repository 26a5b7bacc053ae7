/// Reads `labels:`; `severity` is required.
struct LabelReader {
    private let reader: MappingReader?

    init(rule: MappingReader) {
        if rule.has("labels") {
            reader = rule.mapping("labels", known: nil)
        } else {
            rule.missing("labels", "give at least 'severity': \(Self.severities)")
            reader = nil
        }
    }

    func severity() -> Severity? {
        guard let reader else { return nil }
        guard reader.has("severity") else {
            reader.missing("severity", "one of \(Self.severities)")
            return nil
        }
        return reader.value("severity", "a severity; known: \(Self.severities)") { Severity(rawValue: $0) }
    }

    /// Labels are an alert's identity at the receiver, so the names that Pushwatch sets itself are refused.
    func labels() -> [String: String] {
        guard let reader else { return [:] }
        var labels: [String: String] = [:]
        let reserved = ["alertname"] + Dimension.allCases.map(\.rawValue)
        for key in reader.keys {
            if reserved.contains(key) {
                reader.error(key, "the label '\(key)' is set by Pushwatch")
            } else if !Self.isName(key) {
                reader.error(key, "'\(key)' is not a label name (letters, digits and '_', not beginning with a digit)")
            } else if let text = reader.text(key) {
                labels[key] = text
            }
        }
        return labels
    }

    private static func isName(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        let plain = bytes.allSatisfy { (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 95 }
        return plain && bytes.first.map { !(48...57).contains($0) } == true
    }

    private static let severities = Severity.allCases.map(\.rawValue).joined(separator: ", ")
}
