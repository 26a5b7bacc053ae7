import Postgres

/// A load on the server, and what server and PostgreSQL take for it, in one turn or in several.
struct LoadMeasurement {
    let name: String
    let loader: Loader
    private var result = Loader.Result()
    private var seconds = 0.0
    /// Nil: not to be read.
    private var serverSeconds: Double? = 0
    private var postgresSeconds: Double? = 0
    private var walBytes: Int64 = 0
    private var peakMemory: Int?

    init(_ name: String, _ loader: Loader) {
        self.name = name
        self.loader = loader
    }

    /// One turn. An eighth of its time comes first, and is not counted.
    mutating func run(seconds: Double, on server: BenchServer, pool: PostgresPool) async throws {
        _ = try await loader.run(seconds: seconds / 8)
        server.use.resetPeak()
        let postgres = try await ProcessUse.postgres(of: pool)
        let (serverBefore, postgresBefore, walBefore) = (server.use.cpuSeconds, postgres?.familySeconds, try await Self.wal(pool))
        let (result, seconds) = try await loader.run(seconds: seconds)
        let (serverAfter, postgresAfter, walAfter) = (server.use.cpuSeconds, postgres?.familySeconds, try await Self.wal(pool))
        self.result.add(result)
        self.seconds += seconds
        serverSeconds = Self.sum(serverSeconds, from: serverBefore, to: serverAfter)
        postgresSeconds = Self.sum(postgresSeconds, from: postgresBefore, to: postgresAfter)
        walBytes += walAfter - walBefore
        if let peak = server.use.peakMemory { peakMemory = max(peakMemory ?? 0, peak) }
    }

    /// Of all turns.
    var measurement: BenchReport.Measurement {
        let rows = Double(max(1, result.rows))
        let sorted = result.microseconds.sorted()
        func percentile(_ share: Double) -> Double? {
            sorted.isEmpty ? nil : Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]) / 1000
        }
        return BenchReport.Measurement(
            name: name,
            connections: loader.connections,
            rowsPerRequest: loader.rows,
            requestsPerSecond: Double(result.requests) / seconds,
            rowsPerSecond: Double(result.rows) / seconds,
            p50Milliseconds: percentile(0.5),
            p99Milliseconds: percentile(0.99),
            serverCPUMicrosecondsPerRow: serverSeconds.map { $0 * 1e6 / rows },
            postgresCPUMicrosecondsPerRow: postgresSeconds.map { $0 * 1e6 / rows },
            serverCPUSeconds: serverSeconds,
            postgresCPUSeconds: postgresSeconds,
            walBytesPerRow: Double(walBytes) / rows,
            serverPeakMemoryMiB: peakMemory.map { Double($0) / 1_048_576 },
            refused: result.refused,
            failure: result.failure
        )
    }

    static func wal(_ pool: PostgresPool) async throws -> Int64 {
        try await pool.query("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint")[0].decode(Int64.self)
    }

    private static func sum(_ total: Double?, from before: Double?, to after: Double?) -> Double? {
        guard let total, let before, let after else { return nil }
        return total + after - before
    }
}
