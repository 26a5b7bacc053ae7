import ArgumentParser
import CommandLineKit
import Foundation
import HTTPServer
import Logging

extension BenchCommand {
    /// `pushwatch-dev bench send`
    struct Send: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "send",
            abstract: "Measure sending, from the client to the queue, in three parts.",
            discussion: """
                client
                  the HTTP/2 client alone next to h2load, where nghttp2-client
                  is installed (`bench client` does it against any server), and
                  what the provider simulator can take at most: by its processor
                  time, and from h2load
                end-to-end
                  POST /sends to the durable attempt over 1, 2 and 4 connections
                  to the provider: the processor time of server, database and
                  simulator, the time from enqueuing to the written answer at
                  half that rate, and the rate as a ratio to the provider's
                  client without queue and rows, measured before and after.
                  --compare-with adds the ratio to another program's: it is
                  called with the address, the CA file, a provider token, the
                  topic, the number of requests and how many may be under way;
                  `make bench-compare` builds one on AsyncHTTPClient
                drain
                  a full queue, alone and next to an old snapshot (`bench drain`
                  does only that)

                Server and simulator run in processes of their own, against a scratch \
                database. All of it takes five to ten minutes on two cores, half of them \
                for the drain. Build with `swift build -c release` first.
                """
        )

        @Option(
            name: .long,
            help: "A PostgreSQL to make (and drop) a scratch database in. Default: a private one in a temporary directory."
        )
        var database: String?
        @Option(name: .long, parsing: .upToNextOption, help: "Only these: client, end-to-end, drain.") var only: [String] = []
        @Option(name: .long, parsing: .upToNextOption, help: "Connections to the provider, a measurement each.") var connections = [
            1, 2, 4,
        ]
        @Option(help: "Sends of each measurement of a rate.") var sends = 60_000
        @Option(help: "Milliseconds between the requests of the measurement at half the rate, which share its sends evenly.")
        var interval = 10
        @Flag(help: "Give each send of the end-to-end rates a collapseId of its own, as updates of scores have.") var collapse = false
        @Option(help: "Sends in the queue that is drained.") var deliveries = 1_000_000
        @Option(help: "A program to compare the end-to-end rates with.") var compareWith: String?
        @Flag(help: "About a minute, less exact.") var quick = false
        @Flag(help: "Print the report as JSON.") var json = false

        func validate() throws {
            for name in only where SendBench.Part(rawValue: name) == nil {
                let known = SendBench.Part.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("--only knows \(known), not \(name).")
            }
            guard sends >= 1000, deliveries > 0 else { throw ValidationError("--sends must be 1000 or more, --deliveries 1 or more.") }
            guard (1...1000).contains(interval) else { throw ValidationError("--interval must be a number from 1 to 1000.") }
            guard connections.allSatisfy((1...64).contains) else { throw ValidationError("--connections are numbers from 1 to 64.") }
        }

        func run() async throws {
            LogBootstrap.bootstrap(level: .error)
            let logger = Logger(label: "bench")
            let settings = settings
            let report = try await BenchDatabase.with(in: database, logger: logger) { database in
                try await SendBench(settings: settings, database: database, logger: logger).run()
            }
            if json { try Terminal.printLine(json: report) } else { Terminal.printLine(report.text) }
        }

        private var settings: SendBench.Settings {
            var settings = SendBench.Settings()
            if !only.isEmpty { settings.parts = Set(only.compactMap { SendBench.Part(rawValue: $0) }) }
            settings.connections = connections
            settings.compareWith = compareWith
            settings.interval = .milliseconds(interval)
            settings.collapses = collapse
            settings.sends = quick ? min(sends, 10_000) : sends
            settings.deliveries = quick ? min(deliveries, 50_000) : deliveries
            guard quick else { return settings }
            settings.workedOff = 500_000
            settings.seconds = 3
            settings.clientRequests = 10_000
            return settings
        }
    }
}
