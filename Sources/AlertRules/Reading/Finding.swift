/// An error or a warning about a rule file or a rule test.
package struct Finding: Sendable, Hashable, Comparable {
    package enum Severity: String, Sendable, Hashable {
        /// The file cannot be used.
        case error
        /// It can be used, and should be checked by a person.
        case warning
    }

    package var severity: Severity
    package var position: SourcePosition
    /// The offending key as a path, such as `ratio.above`; nil when the file as a whole is meant.
    package var key: String?
    package var message: String

    package init(_ severity: Severity, at position: SourcePosition, key: String? = nil, _ message: String) {
        self.severity = severity
        self.position = position
        self.key = key
        self.message = message
    }

    package static func < (a: Finding, b: Finding) -> Bool { (a.position, a.message) < (b.position, b.message) }
}

extension Finding: CustomStringConvertible {
    /// `alerts/rules/x.yml:12:9: error: ratio.above: …`, as compilers write it, so that editors can jump there.
    package var description: String {
        "\(position): \(severity.rawValue): " + (key.map { "\($0): " } ?? "") + message
    }
}

/// Collects findings while a file is read. Used by one reader at a time; not for use from two threads.
final class FindingCollector {
    private(set) var findings: [Finding] = []

    func error(at position: SourcePosition, key: String? = nil, _ message: String) {
        findings.append(Finding(.error, at: position, key: key, message))
    }

    func warning(at position: SourcePosition, key: String? = nil, _ message: String) {
        findings.append(Finding(.warning, at: position, key: key, message))
    }

    var errorCount: Int { findings.count { $0.severity == .error } }
}
