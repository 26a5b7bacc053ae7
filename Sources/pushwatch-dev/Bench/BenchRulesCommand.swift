import ArgumentParser
import CommandLineKit
import HTTPServer
import Logging

extension BenchCommand {
    /// `pushwatch-dev bench rules`
    struct Rules: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "One evaluation of all rules and a backtest, as attempts grow tenfold and a hundredfold.",
            discussion: """
                Fills a scratch database with rollups of some weeks: the same minutes and keys with 1, 10 and 100 times the attempts, and then four \
                times as many keys. Measures the first evaluation (14 days of minutes), the next ones minute by minute, and a backtest of \
                28 days. Ratios are to the first load. With --quick: a backtest of 7 days, one app instead of two (half of the keys), 1 and 100 times \
                the attempts without the 10 between them, and fewer evaluations. Each load is printed as soon as it is measured.
                """
        )

        @OptionGroup var location: AlertsLocation
        @Option(help: "A PostgreSQL to make (and drop) a scratch database in. Default: a private one in a temporary directory.")
        var database: String?
        @Flag(help: "Seven days instead of 28, half of the keys, fewer loads and evaluations.") var quick = false
        @Flag(help: "Print the report as JSON.") var json = false

        func run() async throws {
            LogBootstrap.bootstrap(level: .error)
            let logger = Logger(label: "bench")
            let rules = try location.rules()
            let settings: RulesBench.Settings = quick ? .quick : .full
            let report = try await BenchDatabase.with(in: database, logger: logger) { database in
                try await RulesBench(database: database, rules: rules, settings: settings, logger: logger).run()
            }
            if json { try Terminal.printLine(json: report) } else { Terminal.printLine(report.text) }
        }
    }
}
