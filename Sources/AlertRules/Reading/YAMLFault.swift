import Yams

/// What is wrong with a YAML file.
package enum YAMLFault {
    package typealias Position = (line: Int, column: Int)

    /// The fault and its place, without the lines around it, which may contain a secret.
    package static func text(of error: any Error) -> String {
        guard let error = error as? YamlError else { return "it cannot be read" }
        let (text, position, _) = describe(error)
        return position.map { "\(text) (line \($0.line), column \($0.column))" } ?? text
    }

    package static func position(of error: any Error) -> Position? { (error as? YamlError).flatMap { describe($0).position } }

    static func describe(_ error: YamlError) -> (text: String, position: Position?, isFormat: Bool) {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _), .composer(_, let problem, let mark, _):
            return (problem, (line: mark.line, column: mark.column), true)
        case .duplicatedKeysInMapping(let duplicates, let context):
            let text = "the same key twice: \(duplicates.joined(separator: ", "))"
            let first = (line: context.mark.line, column: context.mark.column)
            guard let key = duplicates.first, let second = again(key, after: first, in: context.text) else { return (text, first, false) }
            return ("\(text), first in line \(first.line)", second, false)
        case .reader(let problem, _, _, _): return (problem, nil, true)
        default: return ("it cannot be read", nil, true)
        }
    }

    /// The position of the second occurrence of a key at the same indentation; nil where it cannot be found, as in `{a: 1, a: 2}`.
    private static func again(_ key: String, after first: Position, in text: String) -> Position? {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated().dropFirst(first.line) {
            let indent = line.prefix { $0 == " " }.count
            let content = line.dropFirst(indent)
            if content.isEmpty || content.hasPrefix("#") { continue }
            // The mapping has ended.
            if indent < first.column - 1 { return nil }
            let isKey = [key, "\"\(key)\"", "'\(key)'"].contains { content.hasPrefix($0 + ":") }
            if isKey, indent == first.column - 1 { return (line: index + 1, column: first.column) }
        }
        return nil
    }
}
