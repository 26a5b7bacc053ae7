import Yams

/// What is wrong with a YAML file.
package enum YAMLFault {
    /// The fault and its place, without the lines around it, which may hold a secret.
    package static func text(of error: any Error) -> String {
        guard let error = error as? YamlError else { return "it cannot be read" }
        let (text, mark, _) = describe(error)
        return mark.map { "\(text) (line \($0.line), column \($0.column))" } ?? text
    }

    static func describe(_ error: YamlError) -> (text: String, mark: Mark?, isFormat: Bool) {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _), .composer(_, let problem, let mark, _):
            (problem, mark, true)
        case .duplicatedKeysInMapping(let duplicates, let context):
            ("the same key twice: \(duplicates.joined(separator: ", "))", context.mark, false)
        case .reader(let problem, _, _, _): (problem, nil, true)
        default: ("it cannot be read", nil, true)
        }
    }
}
