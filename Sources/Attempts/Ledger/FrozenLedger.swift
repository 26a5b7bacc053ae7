import Logging
import Postgres
import PushContract
import ServiceKit

/// Loads the keys of the previous ledger generation into a filter, at the start and after every rotation, so that batches of new
/// attempts need not look there. The generation is frozen: a rotation waits for its last writer, and no key is added afterwards.
struct FrozenLedger: Sendable {
    let pool: PostgresPool
    let hints: LedgerHints
    let logger: Logger
    /// How often a rotation is looked for; until it is noticed, batches look the keys up.
    var interval: Duration = .seconds(30)
    /// A generation whose filter would take more memory is looked up by index as before.
    var mostBytes = 256 << 20

    private static let chunk = 50_000

    func run() async throws {
        try await PeriodicService("frozen ledger", every: interval, logger: logger, failureLevel: .debug) { try await refresh() }.run()
    }

    /// Makes the filter if there is none for the generation that is frozen now.
    func refresh() async throws {
        let generations = try await pool.withConnection { try await $0.perform { try LedgerGenerations.read($0) } }
        guard !hints.hasFilter(of: generations) else { return }
        // A statement after the one that saw the rotation: its snapshot holds every row of the generation.
        let rows = try await pool.query("SELECT count(*) FROM attemptLedger WHERE generation = \(generations.previous)")
        guard let count = try rows.first?.decode(Int.self), BloomFilter.bytes(forCapacity: count) <= mostBytes else { return }
        let filter = try await load(generations.previous, count: count)
        hints.use(filter, previousOf: generations)
        logger.info("frozen ledger generation loaded", metadata: ["keys": "\(filter.count)", "bytes": "\(filter.byteCount)"])
    }

    private func load(_ generation: Int32, count: Int) async throws -> BloomFilter {
        try await pool.withTransaction { transaction in
            var filter = BloomFilter(capacity: count)
            // Generations are numbers of ours; a cursor's query takes no parameter in every pooler.
            try await transaction.execute(
                "DECLARE frozen NO SCROLL CURSOR FOR SELECT attemptKey FROM attemptLedger WHERE generation = \(raw: "\(generation)")"
            )
            while true {
                let rows = try await transaction.query("FETCH \(raw: "\(FrozenLedger.chunk)") FROM frozen")
                if rows.isEmpty { return filter }
                for row in rows { filter.insert(try row.decode(AttemptKey.self)) }
            }
        }
    }
}
