import ArgumentParser
import CommandLineKit
import Foundation
import HTTPServer
import Logging

/// `pushwatch-dev bench …`
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measure Pushwatch on this machine.",
        discussion: """
            Build with `swift build -c release` first, and run nothing else meanwhile: other work changes the figures. Most benches take \
            two to ten minutes on two cores, with --quick about a minute. Progress is on standard error, the report on standard output.

            All but `client` make a scratch database: in a private PostgreSQL in the temporary directory, for which PostgreSQL must be \
            installed and some gigabytes be free, or in one that --database names. Ctrl-C or SIGTERM ends a bench within seconds, with \
            exit code 130; its database, processes and files are removed.
            """,
        subcommands: [
            Ingest.self, Overload.self, Isolation.self, Send.self, Drain.self, Rules.self, Labels.self, Alert.self, Live.self, Pages.self,
            BenchClientCommand.self, BenchServeCommand.self, List.self,
        ]
    )

    /// `pushwatch-dev bench list`: what `make bench` runs, a name a line. The client's bench needs a server that only its caller knows, and
    /// `send` has the drain in it.
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(shouldDisplay: false)

        func run() {
            for bench in BenchCommand.configuration.subcommands
            where bench.configuration.shouldDisplay && bench != BenchClientCommand.self && bench != Drain.self {
                Terminal.printLine(bench._commandName)
            }
        }
    }

    /// `pushwatch-dev bench ingest`
    struct Ingest: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Ingestion against COPY into an identical table, in one run on a scratch database.",
            discussion: """
                Build with `swift build -c release` first. Rates depend on the machine and its load; compare the ratios: \
                every HTTP measurement is between two slices of COPY, and single POSTs take turns with a no-op route of the same server. \
                The server runs in a process of its own; the load comes from this one.
                """
        )

        @Option(
            name: .long,
            help: "A PostgreSQL to make (and drop) a scratch database in. Default: a private one in a temporary directory."
        )
        var database: String?
        @Option(name: .long, help: "Rows to store before measuring; 20M and 500k are understood. Measures without them first.")
        var preload = "0"
        @Option(
            name: .long,
            help:
                "Keys of each frozen day of the ledger, as synthetic filters that the server loads; 200M and the like. Measures without first."
        )
        var frozenKeys = "0"
        @Flag(
            help:
                "CPU time of a Citus cluster against one PostgreSQL instead, with the programs of PUSHWATCH_TEST_CITUS_BIN; only --shards, --quick and --json apply."
        )
        var citus = false
        @Option(name: .long, help: "Shards of --citus, on two workers.") var shards = 4
        @Flag(help: "About half a minute, less exact.") var quick = false
        @Option(
            name: .long,
            parsing: .upToNextOption,
            help: "Only these: rows of a batch (500), or connections of single POSTs (single64)."
        )
        var only: [String] = []
        @Flag(help: "Print the report as JSON.") var json = false

        func validate() throws {
            _ = try (count(preload, "--preload"), count(frozenKeys, "--frozen-keys"))
            if let unknown = only.first(where: { !IngestBench.names.contains($0) }) {
                throw ValidationError("--only knows \(IngestBench.names.joined(separator: ", ")), not \(unknown).")
            }
        }

        func run() async throws {
            LogBootstrap.bootstrap(level: .warning)
            let logger = Logger(label: "bench")
            if citus {
                let settings = CitusBench.Settings(shards: shards, seconds: quick ? 3 : 10, rounds: quick ? 3 : 5)
                let report = try await BenchCommand.untilInterrupted { try await CitusBench(settings: settings, logger: logger).run() }
                if json { try Terminal.printLine(json: report.document) } else { Terminal.printLine(report.table) }
                return
            }
            let settings = IngestBench.Settings(
                preload: try count(preload, "--preload"),
                seconds: quick ? 2 : 6,
                copyRows: quick ? 60_000 : 400_000,
                only: Set(only),
                frozenKeys: try count(frozenKeys, "--frozen-keys")
            )
            let report = try await BenchDatabase.with(in: database, logger: logger) { database in
                try await IngestBench(database: database, settings: settings, logger: logger).run()
            }
            if json { try Terminal.printLine(json: report) } else { Terminal.printLine(report.table) }
        }

        private func count(_ value: String, _ option: String) throws -> Int {
            let text = value.lowercased().replacing("_", with: "")
            let factor = text.hasSuffix("m") ? 1_000_000 : text.hasSuffix("k") ? 1000 : 1
            guard let number = Int(factor == 1 ? text : String(text.dropLast())), number >= 0 else {
                throw ValidationError("\(option) takes a number, such as 500k or 20M.")
            }
            return number * factor
        }
    }
}

extension BenchCommand {
    /// What `body` measures. After Ctrl-C or SIGTERM it is cancelled, and has ended with all that it started when this throws.
    static func untilInterrupted<Report: Sendable>(_ body: @escaping @Sendable () async throws -> Report) async throws -> Report {
        if let report = try await Interruption().until(body) { return report }
        // A line of progress may stand there.
        Terminal.progress("")
        throw CommandFailure(message: "Stopped; nothing was measured.", code: Interruption.exitCode)
    }
}
