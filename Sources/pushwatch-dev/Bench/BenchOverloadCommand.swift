import ArgumentParser
import CommandLineKit
import Foundation
import HTTPServer
import Logging
import Postgres
import Server

extension BenchCommand {
    /// `pushwatch-dev bench overload`
    struct Overload: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "The server's memory under misuse, and what its well-behaved senders notice.",
            discussion: """
                Idle connections, senders of a byte a second, gzip bombs, and a database that stops under full load, one after the other \
                against one server on a scratch database. Shows the server's peak memory in each, and the latency of sixteen senders that \
                post batches of ten meanwhile. Build with `swift build -c release` first.
                """
        )

        @Option(name: .long, help: "A PostgreSQL to make (and drop) a scratch database in. Default: a private one.") var database: String?
        @Option(name: .long, help: "Idle connections.") var idle = 9_000
        @Option(name: .long, help: "Senders of a byte a second.") var slow = 1_000
        @Flag(help: "Shorter scenarios; the database stops for 10 s instead of 60.") var quick = false
        @Flag(help: "Print the report as JSON.") var json = false

        func run() async throws {
            LogBootstrap.bootstrap(level: .critical)
            let files = ProcessLimits.raiseDescriptors()
            guard files >= idle + 1_000 else {
                throw CommandFailure.environment("Only \(files) files may be open: raise `ulimit -n`, or pass a smaller --idle.")
            }
            let logger = Logger(label: "bench")
            let settings = OverloadBench.Settings(
                idleConnections: idle,
                slowSenders: slow,
                seconds: quick ? 8 : 45,
                outage: quick ? 10 : 60
            )
            let report = try await BenchDatabase.with(in: database, logger: logger) { database in
                Terminal.note("starting the server")
                let server = try await BenchServer(database: database.url)
                defer { server.stop() }
                let pool = PostgresPool(
                    configuration: PostgresConfiguration(url: database.url, maxConnections: 2, statementTimeout: .seconds(600)),
                    logger: logger
                )
                defer { pool.close() }
                return try await OverloadBench(settings: settings, server: server, pool: pool).run()
            }
            if json { try Terminal.printLine(json: report) } else { Terminal.printLine(report.table) }
        }
    }
}
