package import Logging
import Metrics
package import Postgres
import PushContract
import ServiceKit
import ServiceLifecycle

/// Has the keys of the frozen generations in filters, so that batches of new attempts need not look there. A generation is frozen for good:
/// a rotation waits for its last writer, and no key is added afterwards. So its filter is made once, from the table, and kept in a file.
///
/// Nothing waits for it: until a filter is there, and where the memory for filters is used up, keys are looked up by index.
package struct FrozenLedger: Service {
    private let pool: PostgresPool
    private let hints: LedgerHints
    private let limits: LedgerFilterLimits
    private let logger: Logger

    /// How often a rotation is looked for; until it is noticed, batches look the keys up.
    private static let interval: Duration = .seconds(30)
    private static let chunk = 50_000
    private static let bytes = Gauge(label: "pushwatch_ledger_filter_bytes")
    private static let lookedUp = Gauge(label: "pushwatch_ledger_generations_looked_up")

    private var cache: FilterCache? { limits.directory.map(FilterCache.init) }

    /// - Parameter hints: get the filters; of this process.
    package init(pool: PostgresPool, hints: LedgerHints, limits: LedgerFilterLimits = LedgerFilterLimits(), logger: Logger) {
        self.pool = pool
        self.hints = hints
        self.limits = limits
        self.logger = logger
    }

    package func run() async throws {
        try await PeriodicService("frozen ledger", every: FrozenLedger.interval, logger: logger, failureLevel: .warning) {
            try await refresh()
        }.run()
    }

    /// Loads what is cached, and then makes what is missing, newest first.
    func refresh() async throws {
        let generations = try await pool.withConnection { try await $0.perform { try LedgerGenerations.read($0) } }
        hints.forgetOthers(of: generations)
        cache?.removeOlder(than: generations.frozen.map(\.frozenAt).min() ?? generations.rotatedAt)
        defer { report(generations) }
        for generation in generations.frozen {
            if let filter = await cached(generation) { use(filter, generation, "loaded") }
        }
        guard generations.frozen.contains(where: hints.needsFilter) else { return }
        guard let cache else { return try await makeMissing(generations) }
        // Who shares the directory finds the file when its turn has come.
        _ = try await cache.locked { try await makeMissing(generations) }
    }

    private func cached(_ generation: FrozenGeneration) async -> BloomFilter? {
        guard hints.needsFilter(of: generation), let cache, let size = cache.size(generation) else { return nil }
        guard size <= space else {
            hints.leaveOut(generation)
            return nil
        }
        return await cache.load(generation, space: space)
    }

    private func makeMissing(_ generations: LedgerGenerations) async throws {
        for generation in generations.frozen where hints.needsFilter(of: generation) {
            if let filter = await cached(generation) {
                use(filter, generation, "loaded")
                continue
            }
            let capacity = try await capacity(for: generation.number)
            guard BloomFilter.bytes(forCapacity: capacity) <= space else {
                hints.leaveOut(generation)
                continue
            }
            let filter = try await make(generation.number, capacity: capacity)
            use(filter, generation, "made")
            do {
                try await cache?.store(filter, generation)
            } catch {
                logger.warning(
                    "a filter of the ledger could not be cached; a restart makes it again",
                    metadata: ["directory": "\(limits.directory ?? "")", "error": "\(FileFault.cause(of: error))"]
                )
            }
        }
    }

    private var space: Int { limits.mostBytes - hints.filterBytes }

    private func use(_ filter: BloomFilter, _ generation: FrozenGeneration, _ how: String) {
        hints.use(filter, of: generation)
        logger.info(
            "a filter of a frozen ledger generation is in use",
            metadata: [
                "generation": "\(generation.number)", "origin": "\(how)", "keys": "\(filter.count)", "bytes": "\(filter.bytes.count)",
            ]
        )
    }

    private func report(_ generations: LedgerGenerations) {
        FrozenLedger.bytes.record(hints.filterBytes)
        FrozenLedger.lookedUp.record(generations.frozen.count { !hints.hasFilter(of: $0) })
        let leftOut = hints.takeLeftOut()
        guard !leftOut.isEmpty else { return }
        logger.warning(
            "ledger.filterMegabytes is used up: in these generations each new key is looked up by index, which costs ingestion time",
            metadata: ["generations": "\(leftOut.map(\.number).sorted())", "bytes": "\(hints.filterBytes)"]
        )
    }

    /// Keys are digests: one in 1,024 is below this. The margin is four standard deviations of the sample.
    private func capacity(for generation: Int32) async throws -> Int {
        let rows = try await pool.query(
            """
            SELECT count(*) FROM attemptLedger
            WHERE generation = \(generation) AND attemptKey < '00400000-0000-0000-0000-000000000000'
            """
        )
        let sample = try rows[0].decode(Int.self)
        return 1024 * (sample + 4 * Int(Double(sample).squareRoot()) + 4)
    }

    private func make(_ generation: Int32, capacity: Int) async throws -> BloomFilter {
        try await pool.withTransaction { transaction in
            let filter = BloomFilter(capacity: capacity)
            // All rows, in the order of the file.
            for scan in ["indexscan", "indexonlyscan", "bitmapscan"] {
                try await transaction.execute("SET LOCAL enable_\(raw: scan) = off")
            }
            try await transaction.execute("SET LOCAL enable_seqscan = on")
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

/// Where filters of the ledger's frozen generations are kept, and how much memory they may take.
package struct LedgerFilterLimits: Sendable {
    /// For their files; nil: they are made again at each start.
    package var directory: String?
    /// Of all filters of this process. Enough for 537 million keys.
    package var mostBytes = 1024 << 20

    package init() {}
}
