import ArgumentParser
import CommandLineKit
import HTTPServer
import Logging

extension BenchCommand {
    /// `pushwatch-dev bench live`
    struct Live: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Measure the fan-out of Live Activities: the age of a state when it is sent, and the rate of starts.",
            discussion: """
                An update every two seconds to so many tokens, 5 % of them slow and 2 % dead, then the same while a match goes live. The \
                provider is simulated inside the process at almost no cost. Build with `swift build -c release` first. \
                Exits with 1 if a state was sent out of order, a start was sent twice, or a request has no row.
                """
        )

        @Option(name: .long, help: "A PostgreSQL to make (and drop) a scratch database in. Default: a private one.") var database: String?
        @Option(name: .long, help: "Activities that run.") var tokens = 12_000
        @Option(name: .long, help: "Starts to release.") var starts = 30_000
        @Option(
            help: "How long updates are sent before the starts; 300s unless given.",
            transform: CommandDuration.within(.seconds(1)...(.days(1)))
        )
        var duration = CommandDuration.seconds(300)
        @Option(name: .long, help: "Starts released per second.") var startsPerSecond = 300.0
        @Flag(help: "300 tokens, 300 starts, 10 seconds.") var quick = false
        @Flag(help: "Print the report as JSON.") var json = false

        func run() async throws {
            LogBootstrap.bootstrap(level: .warning)
            let logger = Logger(label: "bench")
            let settings = LiveBench.Settings(
                tokens: quick ? 300 : tokens,
                starts: quick ? 300 : starts,
                seconds: quick ? 10 : Double(duration.seconds),
                startsPerSecond: startsPerSecond
            )
            let report = try await BenchDatabase.with(in: database, logger: logger) { database in
                try await LiveBench(settings: settings, database: database, logger: logger).run()
            }
            if json { try Terminal.printLine(json: report) } else { Terminal.printLine(report.text) }
            guard report.outOfOrder == 0, report.overlapping == 0, report.repeatedStarts == 0, report.attemptsMissing == 0 else {
                throw ExitCode(1)
            }
        }
    }
}
