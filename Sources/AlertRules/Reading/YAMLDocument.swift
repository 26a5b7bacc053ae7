import Yams

/// A file's text with the path it is reported under.
package struct SourceText: Sendable, Hashable {
    package var path: String
    package var text: String

    package init(path: String, text: String) {
        self.path = path
        self.text = text
    }

    var start: SourcePosition { SourcePosition(file: path, line: 1, column: 1) }
}

/// Turns text into YAML nodes with their positions.
enum YAMLDocument {
    /// Nil, with a finding at the place of the fault, when the text is no YAML or is empty.
    static func root(of source: SourceText, findings: FindingCollector) -> Node? {
        do {
            if let node = try Yams.compose(yaml: source.text) { return node }
            findings.error(at: source.start, "the file is empty")
        } catch {
            let (text, mark, isFormat) = (error as? YamlError).map(YAMLFault.describe) ?? ("it cannot be read", nil, true)
            let position = mark.map { SourcePosition(file: source.path, line: $0.line, column: $0.column) } ?? source.start
            findings.error(at: position, isFormat ? "not YAML: \(text)" : text)
        }
        return nil
    }
}
