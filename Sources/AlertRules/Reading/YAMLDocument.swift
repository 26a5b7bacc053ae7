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
        } catch let error as YamlError {
            let (position, message) = describe(error, source)
            findings.error(at: position, message)
        } catch {
            findings.error(at: source.start, "not YAML: \(error)")
        }
        return nil
    }

    private static func describe(_ error: YamlError, _ source: SourceText) -> (SourcePosition, String) {
        func at(_ mark: Mark) -> SourcePosition { SourcePosition(file: source.path, line: mark.line, column: mark.column) }
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _), .composer(_, let problem, let mark, _):
            return (at(mark), "not YAML: \(problem)")
        case .duplicatedKeysInMapping(let duplicates, let context):
            return (at(context.mark), "the same key twice: \(duplicates.joined(separator: ", "))")
        case .reader(let problem, _, _, _):
            return (source.start, "not YAML: \(problem)")
        default:
            return (source.start, "not YAML: \(error)")
        }
    }
}
