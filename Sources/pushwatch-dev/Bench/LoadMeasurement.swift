import Postgres

/// A load on the server, and what server and PostgreSQL take for it, in one turn or in several.
struct LoadMeasurement {
    let name: String
    let loader: Loader
    private var result = Loader.Result()
    private var seconds = 0.0
    /// Nil: not to be read.
    private var serverSeconds: Double? = 0
    private var postgres = PostgresUse.none
    private var peakMemory: Int?

    init(_ name: String, _ loader: Loader) {
        self.name = name
        self.loader = loader
    }

    /// One turn. An eighth of its time comes first, and is not counted.
    mutating func run(seconds: Double, on server: BenchServer, pool: PostgresPool) async throws {
        _ = try await loader.run(seconds: seconds / 8)
        server.use.resetPeak()
        let (serverBefore, postgresBefore) = (server.use.cpuSeconds, try await PostgresUse.read(pool))
        let (result, seconds) = try await loader.run(seconds: seconds)
        serverSeconds = serverSeconds.sum(server.use.cpuSeconds.difference(serverBefore))
        postgres += try await PostgresUse.read(pool) - postgresBefore
        self.result.add(result)
        self.seconds += seconds
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
            postgresCPUMicrosecondsPerRow: postgres.seconds.map { $0 * 1e6 / rows },
            serverCPUSeconds: serverSeconds,
            postgresCPUSeconds: postgres.seconds,
            walBytesPerRow: Double(postgres.walBytes) / rows,
            serverPeakMemoryMiB: peakMemory.map { Double($0) / 1_048_576 },
            refused: result.refused,
            failure: result.failure
        )
    }
}
