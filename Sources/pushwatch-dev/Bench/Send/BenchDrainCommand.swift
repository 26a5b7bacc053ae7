import ArgumentParser
import CommandLineKit
import Foundation
import HTTPServer
import Logging

extension BenchCommand {
    /// `pushwatch-dev bench drain`
    struct Drain: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Drain a full send queue, alone and next to an old snapshot and an idle transaction; or keep it at one length.",
            discussion:
                """
                The provider is in this process and takes everything at once: what is measured is the queue in PostgreSQL, with a durable row for \
                each try. With --http2 each goes over TLS to the provider simulator, in a process of its own, whose processor time does not \
                count. With --waiting nothing is drained: sends are stored as fast as they are sent, for half a minute.
                """
        )

        @Option(help: "A PostgreSQL to make (and drop) a scratch database in. Default: a private one in a temporary directory.")
        var database: String?
        @Option(help: "Sends in the queue.") var deliveries = 1_000_000
        @Option(help: "Sends that are worked off between the snapshot and the second drain: by default an hour of 5,000 a second.")
        var workedOff = DrainBench.hour
        @Option(help: "Keep so many sends waiting instead, at the highest steady rate.") var waiting: Int?
        @Flag(help: "Send over HTTP/2 to the provider simulator.") var http2 = false
        @Flag(help: "Print the report as JSON.") var json = false

        func validate() throws {
            guard let waiting, waiting < SteadyBench.batch else { return }
            throw ValidationError("--waiting is at least \(SteadyBench.batch), what is stored at once.")
        }

        func run() async throws {
            LogBootstrap.bootstrap(level: .warning)
            let logger = Logger(label: "bench")
            try await BenchDatabase.with(in: database, logger: logger) { [http2, deliveries, workedOff, waiting, json] database in
                let directory = NSTemporaryDirectory() + "pushwatch_bench_drain_\(getpid())"
                defer { try? FileManager.default.removeItem(atPath: directory) }
                let simulator = http2 ? try await BenchSimulator(directory: directory) : nil
                defer { simulator?.stop() }
                let queue = BenchQueue(
                    database: database,
                    provider: simulator.map { BareProvider(settings: $0.settings, connections: 2, inFlight: 0) },
                    logger: logger
                )
                if let waiting {
                    let report = try await SteadyBench(queue: queue, waiting: waiting).run()
                    if json { try Terminal.printLine(json: report) } else { Terminal.printLine(report.text) }
                } else {
                    let report = try await DrainBench(queue: queue, deliveries: deliveries, workedOff: workedOff).run()
                    if json { try Terminal.printLine(json: report) } else { Terminal.printLine(report.text) }
                }
            }
        }
    }
}
