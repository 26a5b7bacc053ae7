import AlertRules
import ArgumentParser

/// `pushwatch rules …`
struct RulesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rules",
        abstract: "Check and test alert rules.",
        subcommands: [Check.self, Test.self]
    )

    /// Where the rules are.
    struct Location: ParsableArguments {
        @Argument(help: "The alerts directory: rules/, runbooks/ and tests/ below it.") var directory = "alerts"
    }

    /// `pushwatch rules check`
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Read every rule file and say what is wrong with it, with file, line and key.",
            discussion: "Ends with 1 when there is an error; warnings alone end with 0."
        )

        @OptionGroup var location: Location

        func run() async throws {
            let report = RuleCheck.report(alertsDirectory: location.directory)
            Terminal.say(report.text)
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
            for finding in findings { Terminal.complain(finding.description) }
            Terminal.say(report.text)
            if !report.passed || !findings.isEmpty { throw ExitCode(1) }
        }
    }
}
