import AlertRules
import Alerting
import ArgumentParser
import CommandLineKit
import Foundation

/// `pushwatch rules …`
struct RulesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rules",
        abstract: "Check and test alert rules, on fixtures and on stored history.",
        subcommands: [Check.self, Test.self, RulesBacktestCommand.self, RulesDiffCommand.self]
    )

    /// `pushwatch rules check`
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check every rule file and receivers.yml; errors name file, line and key.",
            discussion: """
                Exits with 1 on an error; with warnings alone, with 0. With --database or --config it also reads the last 28 days, and warns of \
                a ratio rule whose healthy share is near its threshold.
                """
        )

        @OptionGroup var location: AlertsLocation
        @OptionGroup var history: HistoryOptions

        func run() async throws {
            try AlertsLocation.requireDirectory(location.directory)
            var report = RuleCheck.report(alertsDirectory: location.directory)
            let receivers = "\(location.directory)/receivers.yml"
            report.findings += ReceiverFile.check(path: receivers, environment: ProcessInfo.processInfo.environment, rules: report.rules)
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
            abstract: "Run the rule tests in tests/: input rates, the minutes at which alerts must fire and resolve, and whom they notify."
        )

        @OptionGroup var location: AlertsLocation

        func run() async throws {
            try AlertsLocation.requireDirectory(location.directory)
            let receivers = try ReceiverFile.routing(path: "\(location.directory)/receivers.yml").map(ReceiverTest.init)
            let (report, findings) = RuleTestRunner.run(alertsDirectory: location.directory, receivers)
            for finding in findings { Terminal.printError(finding.description) }
            Terminal.printLine(report.text)
            if !report.passed || !findings.isEmpty { throw ExitCode(1) }
        }
    }
}
