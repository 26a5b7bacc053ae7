import Attempts
import CommandLineKit
import Logging
import Postgres
import PushContract

/// The limit: COPY of the same rows, ready made, into a table like the facts: the same columns, primary key, indexes and days.
struct CopyLimit: Sendable {
    private let pool: PostgresPool
    let rows: Int
    private static let table = "benchFacts"
    static let rowsPerTransaction = 5_000

    init(rows: Int, pool: PostgresPool) async throws {
        self.rows = max(1, rows / CopyLimit.rowsPerTransaction) * CopyLimit.rowsPerTransaction
        self.pool = pool
        try await pool.execute(
            """
            CREATE TABLE IF NOT EXISTS \(raw: CopyLimit.table) (LIKE notificationDeliveryAttempts INCLUDING ALL)
                PARTITION BY RANGE (attemptedAt)
            """
        )
        // The clock may pass midnight while the bench runs.
        for day in -1...1 {
            try await pool.execute(
                """
                DO $do$ DECLARE day timestamptz := date_trunc('day', now(), 'UTC') + \(raw: "\(day)") * interval '1 day';
                BEGIN EXECUTE format('CREATE TABLE IF NOT EXISTS %I PARTITION OF \(raw: CopyLimit.table) FOR VALUES FROM (%L) TO (%L)',
                    '\(raw: CopyLimit.table)_' || to_char(day AT TIME ZONE 'UTC', 'yyyymmdd'), day, day + interval '1 day'); END $do$
                """
            )
        }
    }

    /// Copies as many new rows, made before the clock starts; the table grows as the measured one does. The seconds it took.
    func run(connections: Int) async throws -> Double {
        let streams = try makeStreams()
        let statement = FactCopy.statement(into: CopyLimit.table)
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for queue in 0..<connections {
                group.addTask {
                    try await pool.withConnection { connection in
                        for index in stride(from: queue, to: streams.count, by: connections) {
                            try await connection.copyIn(statement, data: streams[index])
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        return (ContinuousClock.now - start).inSeconds
    }

    private func makeStreams() throws -> [[UInt8]] {
        var body = BenchBody(
            rows: CopyLimit.rowsPerTransaction,
            isSingle: false,
            path: "/",
            host: "",
            key: "",
            seed: .random(in: 0 ... .max)
        )
        let parser = AttemptParser()
        return try (0..<rows / CopyLimit.rowsPerTransaction).map { step in
            try Task.checkCancellation()
            // Batches follow each other in time, as they do when they arrive.
            body.renew(at: (Timestamp.now() + .milliseconds(100 * step)).benchText)
            let padded = Array(body.body) + [UInt8](repeating: 0, count: AttemptParser.padding)
            let parsed = try padded.withUnsafeBytes {
                try parser.parseDocument($0, length: body.body.count, window: .live(now: .now()), itemLimit: .max)
            }
            guard parsed.rejections.isEmpty else { throw CommandFailure.check("the bench made attempts that are none") }
            return FactCopy.stream(of: parsed.batch, receivedAt: .now())
        }
    }
}
