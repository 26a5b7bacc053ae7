import ArgumentParser
import CommandLineKit
import HTTPServer
import Logging

extension BenchCommand {
    /// `pushwatch-dev bench labels`
    struct Labels: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Evaluations of all rules while a client makes up app names.",
            discussion: """
                Fills a scratch database with a real app and with synthetic ones, each of which is rejected in each of the newest minutes. Measures the \
                first evaluation that sees them, the next two, and the peak memory of this process.
                """
        )

        @OptionGroup var location: AlertsLocation
        @Option(help: "A PostgreSQL to make (and drop) a scratch database in. Default: a private one in a temporary directory.")
        var database: String?
        @Option(parsing: .upToNextOption, help: "Synthetic apps of each load.") var apps: [Int32] = [300, 2000, 100_000]
        @Option(help: "Apps that a rule is evaluated for, at most. Default: as in the service.") var maxApps: Int?
        @Flag(help: "300 and 2000 apps alone.") var quick = false
        @Flag(help: "Print the report as JSON.") var json = false

        func run() async throws {
            LogBootstrap.bootstrap(level: .error)
            let logger = Logger(label: "bench")
            let rules = try location.rules()
            let apps = quick ? [300, 2000] : apps
            let loads = try await BenchDatabase.with(in: database, logger: logger) { [maxApps] database in
                try await LabelsBench(database: database, rules: rules, apps: apps, maxApps: maxApps, logger: logger).run()
            }
            if json { try Terminal.printLine(json: loads) }
        }
    }
}
