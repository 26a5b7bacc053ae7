import ArgumentParser
import CommandLineKit
import HTTPServer
import Logging

extension BenchCommand {
    /// `pushwatch-dev bench pages`
    struct Pages: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Measure the time of each page of the on-call site, next to a route that does nothing.",
            discussion: """
                On a scratch database with some days of attempts, an alert that fires, a person with many attempts and a match with followers. \
                Pages are asked for one after the other, in turns with the no-op route of the same server. A time goes from the request to the \
                last byte of the answer, over loopback, so it is a little more than the server's own. Build with `swift build -c release` first.
                """
        )

        @Option(name: .long, help: "A PostgreSQL to make (and drop) a scratch database in. Default: a private one.") var database: String?
        @Option(name: .long, help: "How often each page is asked for.") var times: Int?
        @Option(help: "How far back the history goes; 14d unless given.", transform: CommandDuration.within(.days(1)...(.days(28))))
        var since = CommandDuration.days(14)
        @Flag(help: "Two days with a fifth of the attempts, and each page 20 times.") var quick = false
        @Flag(help: "Print the report as JSON.") var json = false

        func validate() throws {
            if let times, !(1...10_000).contains(times) { throw ValidationError("--times is from 1 to 10000.") }
        }

        func run() async throws {
            LogBootstrap.bootstrap(level: .critical)
            let logger = Logger(label: "bench")
            let history = PagesHistory.Size(
                days: quick ? 2 : Int(since.days),
                attemptsPerMinute: quick ? 8 : 40,
                followers: quick ? 500 : 5_000
            )
            let times = times ?? (quick ? 20 : 100)
            let report = try await BenchDatabase.with(in: database, logger: logger) { database in
                try await PagesBench(database: database, history: history, times: times, logger: logger).run()
            }
            if json { try Terminal.printLine(json: report) } else { Terminal.printLine(report.text) }
        }
    }
}
