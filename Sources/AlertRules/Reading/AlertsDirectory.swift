import Foundation
import ServiceKit

/// The `alerts/` directory: `rules/*.yml`, `tests/*.yml`, `runbooks/*.md`.
package struct AlertsDirectory: Sendable, Hashable {
    package let path: String

    package init(path: String) { self.path = path }

    /// Reads `rules/`. An unreadable directory or file, and an empty directory, are findings, not crashes.
    package func ruleSet() -> RuleSet {
        let (sources, findings) = sources(in: "rules")
        let set = RuleSet.read(sources, runbookExists: hasFile)
        var all = set.findings + findings
        if sources.isEmpty, findings.isEmpty {
            all.append(Finding(.error, at: position("rules"), "there are no rule files (*.yml) here"))
        } else if set.rules.isEmpty, !all.contains(where: { $0.severity == .error }) {
            all.append(Finding(.error, at: position("rules"), "there is no rule in these files, so nothing would alert"))
        }
        return RuleSet(rules: set.rules, findings: all.sorted())
    }

    /// Whether there is anything to read in `rules/`.
    package var hasRuleFiles: Bool { !sources(in: "rules").0.isEmpty }

    /// Reads `tests/`; a directory that does not exist contains no tests.
    package func testSources() -> (sources: [SourceText], findings: [Finding]) {
        hasFile("tests") ? sources(in: "tests") : ([], [])
    }

    package func hasFile(_ relativePath: String) -> Bool {
        FileManager.default.fileExists(atPath: "\(path)/\(relativePath)")
    }

    private func sources(in folder: String) -> ([SourceText], [Finding]) {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: "\(path)/\(folder)") else {
            let cause = FileFault.cause("\(path)/\(folder)", isDirectory: true)
            return ([], [Finding(.error, at: position(folder), "cannot read this directory: \(cause)")])
        }
        var sources: [SourceText] = []
        var findings: [Finding] = []
        for name in names.sorted() where name.hasSuffix(".yml") || name.hasSuffix(".yaml") {
            let file = "\(path)/\(folder)/\(name)"
            if let data = FileManager.default.contents(atPath: file), let text = String(data: data, encoding: .utf8) {
                sources.append(SourceText(path: file, text: text))
            } else {
                let cause = FileFault.cause(file)
                findings.append(Finding(.error, at: SourcePosition(file: file, line: 1, column: 1), "cannot read this file: \(cause)"))
            }
        }
        return (sources, findings)
    }

    private func position(_ folder: String) -> SourcePosition {
        SourcePosition(file: "\(path)/\(folder)", line: 1, column: 1)
    }
}
