import ArgumentParser
import CommandLineKit
import HTTPServer
import Logging

extension BenchCommand {
    /// `pushwatch-dev bench isolation`
    struct Isolation: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "What deliveries notice of a provider that is silent, slow, failing or refusing others, and of its recovery.",
            discussion: """
                Posts APNs sends at a constant rate, every fourth critical, alone and then while FCM accepts requests and never answers, answers \
                after two seconds, or answers 503, each with a queue of FCM sends; and while single deliveries of the same app are refused. \
                Ratios are to the time alone, before and after. Then an outage of FCM with two instances and a full queue: requests a minute while \
                the circuit is open, and the time until the queue is empty after the recovery. \
                Build with `swift build -c release` first.
                """
        )

        @Option(name: .long, help: "A PostgreSQL to make (and drop) a scratch database in. Default: a private one.") var database: String?
        @Option(help: "APNs sends a second.") var rate = 60.0
        @Option(help: "FCM sends that wait while the provider is silent, slow or failing.") var waiting = 3_000
        @Option(help: "FCM sends that wait during the outage.") var outage = 10_000
        @Flag(help: "Shorter scenarios.") var quick = false
        @Flag(help: "Print the report as JSON.") var json = false

        func validate() throws {
            guard rate > 0, waiting > 0, outage > 0 else { throw ValidationError("--rate, --waiting and --outage must be positive.") }
        }

        func run() async throws {
            LogBootstrap.bootstrap(level: .critical)
            let settings = IsolationBench.Settings(rate: rate, waiting: waiting, outage: outage, seconds: quick ? 5 : 30)
            let report = try await BenchDatabase.with(in: database, logger: Logger(label: "bench")) { database in
                try await IsolationBench(settings: settings, database: database).run()
            }
            if json { try Terminal.printLine(json: report) } else { Terminal.printLine(report.text) }
        }
    }
}
