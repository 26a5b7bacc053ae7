import ArgumentParser
import CommandLineKit
import HTTPServer
import Logging

extension BenchCommand {
    /// `pushwatch-dev bench alert`
    struct Alert: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "How soon a receiver has the alert, once the minute that crosses a threshold has closed.",
            discussion: """
                On a scratch database, with the evaluator and the notifier as in service, all rules in force and a webhook listener in this process. \
                Each round writes fifteen minutes of failing sends of an app of its own, with their attempts, and waits for the alert. The clock \
                of both services is moved on between rounds, so that a round takes seconds; their waits are the real ones. A minute closes \
                60 s after its end (`PUSHWATCH_ALERTS_LAG_SECONDS`): that is not part of the figures.
                """
        )

        @OptionGroup var location: AlertsLocation
        @Option(help: "A PostgreSQL to make (and drop) a scratch database in. Default: a private one in a temporary directory.")
        var database: String?
        @Option(help: "Alerts to raise.") var rounds: Int?
        @Flag(help: "Five alerts instead of thirty.") var quick = false
        @Flag(help: "Print the report as JSON.") var json = false

        func validate() throws {
            if let rounds, !(1...200).contains(rounds) { throw ValidationError("--rounds is from 1 to 200.") }
        }

        func run() async throws {
            LogBootstrap.bootstrap(level: .error)
            let logger = Logger(label: "bench")
            let rules = try location.rules()
            let rounds = rounds ?? (quick ? 5 : 30)
            let report = try await BenchDatabase.with(in: database, logger: logger) { database in
                try await AlertBench(database: database, rules: rules, rounds: rounds, logger: logger).run()
            }
            if json { try Terminal.printLine(json: report) } else { Terminal.printLine(report.text) }
        }
    }
}
