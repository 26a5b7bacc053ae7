import Attempts
import Logging
import Postgres
import PushContract

/// The limit: COPY of the same rows, ready made, into a table with the facts' columns, primary key and index, and nothing else.
struct CopyLimit: Sendable {
    private let pool: PostgresPool
    private let streams: [[UInt8]]
    private static let table = "benchFacts"
    static let rowsPerTransaction = 5_000

    static func make(rows: Int, pool: PostgresPool) async throws -> CopyLimit {
        try await pool.execute("CREATE TABLE IF NOT EXISTS \(raw: table) (LIKE notificationDeliveryAttempts INCLUDING ALL)")
        var body = BenchBody(rows: rowsPerTransaction, isSingle: false, path: "/", host: "", key: "", seed: .random(in: 0 ... .max))
        let parser = AttemptParser()
        var streams: [[UInt8]] = []
        for step in 0..<max(1, rows / rowsPerTransaction) {
            // Batches follow each other in time, as they do when they arrive.
            body.renew(at: (Timestamp.now() + .milliseconds(100 * step)).benchText)
            let padded = Array(body.body) + [UInt8](repeating: 0, count: AttemptParser.padding)
            let parsed = try padded.withUnsafeBytes {
                try parser.parseDocument($0, length: body.body.count, window: .live(now: .now()), itemLimit: .max)
            }
            guard parsed.rejections.isEmpty else { throw CommandFailure.check("the bench made attempts that are none") }
            streams.append(FactCopy.stream(of: parsed.batch, receivedAt: .now()))
        }
        return CopyLimit(pool: pool, streams: streams)
    }

    var rows: Int { streams.count * CopyLimit.rowsPerTransaction }

    /// Copies everything into the emptied table; the seconds it took.
    func run(connections: Int) async throws -> Double {
        try await pool.execute("TRUNCATE \(raw: CopyLimit.table)")
        let statement = FactCopy.statement(into: CopyLimit.table)
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<connections {
                group.addTask {
                    try await pool.withConnection { connection in
                        for index in stride(from: lane, to: streams.count, by: connections) {
                            try await connection.copyIn(statement, data: streams[index])
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        return (ContinuousClock.now - start).inSeconds
    }
}
