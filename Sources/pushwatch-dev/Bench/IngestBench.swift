import Attempts
import CommandLineKit
import Foundation
import HTTPClient
import Logging
import Postgres
import PushContract

/// The measurements of `pushwatch-dev bench ingest`, one after the other.
struct IngestBench {
    struct Settings: Sendable {
        var preload: Int
        /// Of each measurement.
        var seconds: Double
        /// Of each slice of COPY.
        var copyRows: Int
        /// Names of measurements; empty: all.
        var only: Set<String> = []
        /// Of each frozen generation of the ledger, as synthetic filters in a cache.
        var frozenKeys = 0

        func includes(_ name: String) -> Bool { only.isEmpty || only.contains(name) }
    }

    private let settings: Settings
    private let database: BenchDatabase
    private let logger: Logger
    private let pool: PostgresPool
    private let maintenance: PartitionMaintenance

    /// Larger batches need fewer connections to keep the writers busy. Batches of 500 once with few and once with many: what waits
    /// shares a transaction, and a transaction costs less for each row the more it has.
    private static let batches: [(rows: Int, connections: Int)] = [(1, 64), (10, 32), (100, 16), (500, 8), (500, 32), (5_000, 4)]
    private static let copyConnections = 2
    private static let singles = [1, 64, 256]
    private static let turns = 4
    static let names = [1, 10, 100, 500, 5_000].map { "\($0)" } + singles.map { "single\($0)" }

    init(database: BenchDatabase, settings: Settings, logger: Logger) {
        self.database = database
        self.settings = settings
        self.logger = logger
        pool = PostgresPool(
            configuration: PostgresConfiguration(
                url: database.url,
                maxConnections: 4,
                statementTimeout: .seconds(600),
                applicationName: "bench"
            ),
            logger: logger
        )
        maintenance = PartitionMaintenance(pool: pool, logger: logger)
    }

    func run() async throws -> BenchReport {
        defer { pool.close() }
        Terminal.note("starting the server")
        var server = try await BenchServer(database: database.url)
        defer { server.stop() }
        var report = BenchReport(preloadedRows: settings.preload)
        if settings.preload > 0 || settings.frozenKeys > 0 {
            Terminal.note("first with nothing stored")
            report.empty = try await batches(server)
            for _ in 0..<(settings.frozenKeys > 0 ? 8 : 0) { try await maintenance.rotateLedgerNow() }
            if settings.preload > 0 { try await BenchPreload(pool: pool, maintenance: maintenance, rows: settings.preload).run() }
            if settings.frozenKeys > 0 {
                server.stop()
                server = try await serverWithFilters(into: &report)
            }
            try await settle(server)
        }
        report.measurements = try await batches(server)
        report.compareWithEmpty()
        try await singles(server, into: &report)
        return report
    }

    /// A server that finds full generations in its cache, once it has their filters.
    private func serverWithFilters(into report: inout BenchReport) async throws -> BenchServer {
        let directory = NSTemporaryDirectory() + "pushwatch-bench-filters-\(getpid())"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        Terminal.note("writing synthetic filters of \(settings.frozenKeys) keys")
        try await RandomFilters.write(keys: settings.frozenKeys, real: settings.preload > 0 ? 1 : 0, to: directory, pool: pool)
        let start = ContinuousClock.now
        let server = try await BenchServer(database: database.url, environment: ["PUSHWATCH_LEDGER_CACHE_DIRECTORY": directory])
        report.readyAfterSeconds = (ContinuousClock.now - start) / .seconds(1)
        let client = CurlClient(configuration: CurlClientConfiguration())
        defer { client.shutdown() }
        while try await !hasFilters(server, client) { try await Task.sleep(for: .milliseconds(100)) }
        report.filtersAfterSeconds = (ContinuousClock.now - start) / .seconds(1)
        return server
    }

    private func hasFilters(_ server: BenchServer, _ client: CurlClient) async throws -> Bool {
        let answer = try await client.send(
            OutboundRequest(
                method: "GET",
                url: "http://127.0.0.1:\(server.port)/metrics",
                headers: [("Authorization", "Bearer \(server.key)")],
                body: []
            )
        )
        return String(decoding: answer.body, as: UTF8.self).contains(/pushwatch_ledger_generations_looked_up 0(\.0)?\n/)
    }

    /// Loading ended with a checkpoint, after which each page goes whole into the WAL when it is first touched. With keys in no order the
    /// first seconds touch every page of the ledger's index; no later second does, until the next checkpoint, minutes away.
    private func settle(_ server: BenchServer) async throws {
        Terminal.note("until the checkpoint is behind")
        _ = try await load(server, "/attempts", rows: 500, connections: 8, isSingle: false).run(seconds: settings.seconds)
    }

    private func batches(_ server: BenchServer) async throws -> [BenchReport.Measurement] {
        guard IngestBench.batches.contains(where: { settings.includes("\($0.rows)") }) else { return [] }
        var measurements: [BenchReport.Measurement] = []
        let copy = try await CopyLimit(rows: settings.copyRows, pool: pool)
        _ = try await slice(copy, connections: IngestBench.copyConnections)
        measurements.append(try await slice(copy, connections: 1))
        var before = try await slice(copy, connections: IngestBench.copyConnections)
        measurements.append(before)
        for batch in IngestBench.batches where settings.includes("\(batch.rows)") {
            var measured = try await measure(
                "POST of \(batch.rows)",
                server,
                load(server, "/attempts", rows: batch.rows, connections: batch.connections, isSingle: false)
            )
            let after = try await slice(copy, connections: IngestBench.copyConnections)
            measured.ratio = measured.rowsPerSecond / ((before.rowsPerSecond + after.rowsPerSecond) / 2)
            measured.ratioTo = before.name
            measurements += [measured, after]
            before = after
        }
        return measurements
    }

    /// In turns with the no-op route, as the machine's speed changes within seconds.
    private func singles(_ server: BenchServer, into report: inout BenchReport) async throws {
        let turn = settings.seconds / Double(IngestBench.turns)
        for connections in IngestBench.singles where settings.includes("single\(connections)") {
            var noOp = LoadMeasurement(
                "no-op",
                load(server, BenchServeCommand.noOpPath, rows: 1, connections: connections, isSingle: true)
            )
            var single = LoadMeasurement("single POST", load(server, "/attempts", rows: 1, connections: connections, isSingle: true))
            Terminal.note("single POST and no-op in turns, over \(connections) connections")
            for _ in 0..<IngestBench.turns {
                try await noOp.run(seconds: turn, on: server, pool: pool)
                try await single.run(seconds: turn, on: server, pool: pool)
            }
            try await noOp.run(seconds: turn, on: server, pool: pool)
            var measured = single.measurement
            measured.ratio = measured.requestsPerSecond / noOp.measurement.requestsPerSecond
            measured.ratioTo = noOp.name
            report.measurements += [noOp.measurement, measured]
        }
    }

    private func load(_ server: BenchServer, _ path: String, rows: Int, connections: Int, isSingle: Bool) -> Loader {
        Loader(connections: connections, rows: rows, isSingle: isSingle, path: path, port: server.port, key: server.key)
    }

    private func measure(_ name: String, _ server: BenchServer, _ loader: Loader) async throws -> BenchReport.Measurement {
        Terminal.note("\(name) over \(loader.connections) connections")
        var load = LoadMeasurement(name, loader)
        try await load.run(seconds: settings.seconds, on: server, pool: pool)
        return load.measurement
    }

    private func slice(_ copy: CopyLimit, connections: Int) async throws -> BenchReport.Measurement {
        Terminal.note("COPY of \(copy.rows) rows over \(connections) connections")
        let before = try await PostgresUse.read(pool)
        let seconds = try await copy.run(connections: connections)
        let use = try await PostgresUse.read(pool) - before
        return BenchReport.Measurement(
            name: "COPY",
            connections: connections,
            rowsPerRequest: CopyLimit.rowsPerTransaction,
            requestsPerSecond: Double(copy.rows / CopyLimit.rowsPerTransaction) / seconds,
            rowsPerSecond: Double(copy.rows) / seconds,
            postgresCPUMicrosecondsPerRow: use.seconds.map { $0 * 1e6 / Double(copy.rows) },
            postgresCPUSeconds: use.seconds,
            walBytesPerRow: Double(use.walBytes) / Double(copy.rows)
        )
    }
}
