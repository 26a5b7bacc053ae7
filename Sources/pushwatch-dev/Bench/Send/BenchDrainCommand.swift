import ArgumentParser
import CommandLineKit
import HTTPServer
import Logging

extension BenchCommand {
    /// `pushwatch-dev bench drain`
    struct Drain: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Drain a full send queue, alone and while an analyst holds a snapshot.",
            discussion:
                "The provider takes everything at once: what is measured is the queue in PostgreSQL, with a durable row for each try."
        )

        @Option(help: "A PostgreSQL to make (and drop) a scratch database in. Default: a private one in a temporary directory.")
        var database: String?
        @Option(help: "Sends in the queue.") var deliveries = 1_000_000
        @Flag(help: "Print the report as JSON.") var json = false

        func run() async throws {
            LogBootstrap.bootstrap(level: .warning)
            let logger = Logger(label: "bench")
            let database = try await BenchDatabase.make(in: database, logger: logger)
            do {
                let report = try await DrainBench(database: database, deliveries: deliveries, logger: logger).run()
                await database.remove()
                if json { try Terminal.printLine(json: report) } else { Terminal.printLine(report.text) }
            } catch {
                await database.remove()
                throw error
            }
        }
    }
}
