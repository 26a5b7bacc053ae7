import AlertRules
import Alerting
import ArgumentParser
import Foundation

/// `pushwatch rules …`
struct RulesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rules",
        abstract: "Check and test alert rules, on made-up traffic and on history.",
        subcommands: [Check.self, Test.self, RulesSimulateCommand.self, RulesBacktestCommand.self, RulesDiffCommand.self]
    )

    /// Where the rules are.
    struct Location: ParsableArguments {
        @Argument(
            help: ArgumentHelp(
                "The alerts directory: rules/, runbooks/ and tests/ below it. Looked for here, then beside the program.",
                valueName: "directory"
            )
        )
        var named = "alerts"

        var directory: String { ProjectFiles.nextToProgram(named) }
    }

    /// `pushwatch rules check`
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Read every rule file and receivers.yml, and say what is wrong with them, with file, line and key.",
            discussion: """
                Ends with 1 when there is an error; warnings alone end with 0. With --database or --config it also looks at the last \
                28 days, and warns of a ratio rule whose healthy share comes near its threshold.
                """
        )

        @OptionGroup var location: Location
        @OptionGroup var history: HistoryOptions

        func run() async throws {
            var report = RuleCheck.report(alertsDirectory: location.directory)
            let receivers = "\(location.directory)/receivers.yml"
            report.findings += ReceiverFile.check(path: receivers, environment: ProcessInfo.processInfo.environment)
            if history.isGiven, !report.hasErrors {
                let rules = report.rules
                report.findings = try await (report.findings + history.withBacktest { try await $0.healthFindings(rules, onProgress: $1) })
                    .sorted()
            }
            Terminal.printLine(report.text)
            if report.hasErrors { throw ExitCode(1) }
        }
    }

    /// `pushwatch rules test`
    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Run the fixtures in tests/ against the rules: input rates, and the minutes at which alerts must fire and resolve."
        )

        @OptionGroup var location: Location

        func run() async throws {
            let (report, findings) = RuleTestRunner.run(alertsDirectory: location.directory)
            for finding in findings { Terminal.printError(finding.description) }
            Terminal.printLine(report.text)
            if !report.passed || !findings.isEmpty { throw ExitCode(1) }
        }
    }
}
