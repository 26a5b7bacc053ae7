import Attempts
import CommandLineKit
import Foundation
import LocalPostgres
import Logging
import Postgres

/// `pushwatch-dev bench ingest --citus`: the CPU time of a coordinator and its workers next to that of one PostgreSQL of the same programs,
/// in slices that alternate. All share this machine, so CPU is compared and not rates.
struct CitusBench {
    struct Settings: Sendable {
        var shards: Int
        /// Of each slice.
        var seconds: Double
        var rounds: Int
    }

    /// A server under measurement and the database it writes to.
    private struct Side {
        var name: String
        var server: BenchServer
        /// The first processes of the database's servers, the coordinator's first.
        var nodes: [ProcessUse]
    }

    /// A transaction is as large as one may be.
    private static let rows = 5_000
    private static let connections = 4

    private let settings: Settings
    private let logger: Logger

    init(settings: Settings, logger: Logger) {
        self.settings = settings
        self.logger = logger
    }

    func run() async throws -> CitusReport {
        guard let binaries = ProcessInfo.processInfo.environment["PUSHWATCH_TEST_CITUS_BIN"], !binaries.isEmpty else {
            throw CommandFailure.check(
                "No Citus: PUSHWATCH_TEST_CITUS_BIN is not set. It names the `bin` directory of a PostgreSQL with the extension."
            )
        }
        let directory = NSTemporaryDirectory() + "pushwatch_bench_\(getpid())"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        Terminal.note("starting one PostgreSQL, a coordinator and two workers")
        var configuration = LocalPostgresConfiguration(directory: directory + "/plain", settings: BenchDatabase.settings)
        configuration.binaries = binaries
        // Each in a task of its own, which is not cancelled: a cluster that is half made could not be removed.
        let plain = try await Task { [configuration, logger] in try await LocalPostgres.start(configuration, logger: logger) }.value
        defer { plain.stopBlocking(.immediate) }
        try Task.checkCancellation()
        let cluster = try await Task { [logger] in
            try await LocalCitus.start(
                in: directory,
                binaries: binaries,
                durable: true,
                settings: BenchDatabase.settings,
                logger: logger
            )
        }.value
        defer { cluster.stop() }
        try Task.checkCancellation()
        let url = try await cluster.createDatabase("pushwatch")
        // The first start migrates; a server that starts afterwards finds distributed tables.
        try await BenchServer(database: url).stop()
        try await TableDistribution(configuration: PostgresConfiguration(url: url)).distribute(shards: settings.shards)
        let sides = [
            Side(name: "one PostgreSQL", server: try await BenchServer(database: plain.socketURL), nodes: [try await processes(of: plain)]),
            Side(name: "Citus", server: try await BenchServer(database: url), nodes: try await processes(of: cluster)),
        ]
        defer { for side in sides { side.server.stop() } }
        return try await measure(plain: sides[0], citus: sides[1])
    }

    /// One PostgreSQL before and after each slice of Citus.
    private func measure(plain: Side, citus: Side) async throws -> CitusReport {
        var report = CitusReport(shards: settings.shards, rowsPerTransaction: CitusBench.rows)
        // The first seconds touch each page for the first time.
        for side in [plain, citus] { _ = try await slice(side) }
        report.slices.append(try await slice(plain))
        for _ in 0..<settings.rounds { report.slices += [try await slice(citus), try await slice(plain)] }
        return report
    }

    private func slice(_ side: Side) async throws -> CitusReport.Slice {
        Terminal.note("POST of \(CitusBench.rows) to \(side.name)")
        let loader = Loader(
            connections: CitusBench.connections,
            rows: CitusBench.rows,
            isSingle: false,
            path: "/attempts",
            port: side.server.port,
            key: side.server.key
        )
        let before = side.nodes.map { $0.familySeconds ?? 0 }
        let (result, seconds) = try await loader.run(seconds: settings.seconds)
        let used = zip(side.nodes, before).map { ($0.familySeconds ?? 0) - $1 }
        let perRow = 1e6 / Double(max(1, result.rows))
        return CitusReport.Slice(
            database: side.name,
            rowsPerSecond: Double(result.rows) / seconds,
            cpuMicrosecondsPerRow: used.reduce(0, +) * perRow,
            coordinatorCPUMicrosecondsPerRow: used[0] * perRow,
            refused: result.refused,
            failure: result.failure
        )
    }

    private func processes(of cluster: LocalCitus) async throws -> [ProcessUse] {
        var processes: [ProcessUse] = []
        for node in cluster.nodes { processes.append(try await self.processes(of: node)) }
        return processes
    }

    private func processes(of node: LocalPostgres) async throws -> ProcessUse {
        let pool = PostgresPool(configuration: PostgresConfiguration(url: node.socketURL(database: "postgres")), logger: logger)
        defer { pool.close() }
        guard let process = try await ProcessUse.postgres(of: pool) else {
            throw CommandFailure.environment("The CPU time of PostgreSQL cannot be read from /proc.")
        }
        return process
    }
}
