import Attempts
import CommandLineKit
import Logging
import Postgres
import PushContract

/// Stores attempts before the measurements, through the one writer, spread over the last six days; half of them in a ledger
/// generation that is then rotated out of use, as after some days of operation.
struct BenchPreload: Sendable {
    let pool: PostgresPool
    let maintenance: PartitionMaintenance
    let rows: Int

    private static let rowsPerBatch = 5_000
    private static let workers = 2

    func run() async throws {
        let half = rows / 2
        try await store(half, done: 0)
        try await maintenance.rotateLedgerNow()
        try await store(rows - half, done: half)
        Terminal.progress("\(rows) rows stored; ANALYZE, CHECKPOINT", isLast: true)
        try await pool.execute("ANALYZE")
        try await pool.execute("CHECKPOINT")
    }

    private func store(_ count: Int, done: Int) async throws {
        let batches = (count + BenchPreload.rowsPerBatch - 1) / BenchPreload.rowsPerBatch
        let start = Timestamp.now() - .seconds(6 * 86_400)
        let hints = LedgerHints()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<BenchPreload.workers {
                group.addTask {
                    let parser = AttemptParser()
                    var body = BenchBody(
                        rows: BenchPreload.rowsPerBatch,
                        isSingle: false,
                        path: "/",
                        host: "",
                        key: "",
                        seed: .random(in: 0 ... .max)
                    )
                    for number in stride(from: worker, to: batches, by: BenchPreload.workers) {
                        body.renew(at: (start + .seconds(Int64(number) * 5 * 86_400 / Int64(batches))).benchText)
                        let padded = Array(body.body) + [UInt8](repeating: 0, count: AttemptParser.padding)
                        let batch = try padded.withUnsafeBytes {
                            try parser.parseDocument($0, length: body.body.count, window: .live(now: .now()), itemLimit: .max).batch
                        }
                        _ = try await pool.performTransaction(retrying: .idempotent) { connection in
                            try AttemptWriter.write(batch, on: connection, slot: Int16(worker), receivedAt: .now(), hints: hints)
                        }
                        if worker == 0 { Terminal.progress("storing \(rows) rows: \(done + number * BenchPreload.rowsPerBatch)") }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
