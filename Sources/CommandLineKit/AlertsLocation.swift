package import AlertRules
import ArgumentParser
import Foundation

/// Where the rules are.
package struct AlertsLocation: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The alerts directory, with rules/, runbooks/ and tests/. It is searched for here, then next to the program.",
            valueName: "directory"
        )
    )
    package var named = "alerts"

    package init() {}

    package var directory: String { ProjectFiles.nextToProgram(named) }

    /// Throws where there is no such directory, which says nothing of the rules.
    package static func requireDirectory(_ path: String) throws {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue else {
            throw CommandFailure.environment("There is no directory \(path). Name the alerts directory, with rules/, runbooks/ and tests/.")
        }
    }
}

extension AlertsLocation {
    package func rules() throws -> [AlertRule] { try AlertsLocation.rules(in: directory) }

    /// The rules of an alerts directory. Rules with errors are not evaluated.
    package static func rules(in directory: String) throws -> [AlertRule] {
        try requireDirectory(directory)
        let set = AlertsDirectory(path: directory).ruleSet()
        guard !set.hasErrors else {
            for finding in set.findings { Terminal.printError(finding.description) }
            throw CommandFailure.check("The rules in \(directory) have errors.")
        }
        return set.rules
    }
}
