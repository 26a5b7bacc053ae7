import Postgres
import PushContract

/// The ledger's generations: the next one is created ahead, the switch is one short transaction, the one that is no longer read is dropped.
struct LedgerRotation {
    let pool: PostgresPool

    /// Attaches the generation that will follow, so that the switch itself has no table to make.
    func prepare() async throws {
        let next = "attemptLedger_\(try await LedgerGenerations.read(on: pool).current + 1)"
        guard try await !PartitionStatements.generations(on: pool).contains(next.lowercased()) else { return }
        try await pool.withTransaction { transaction in
            try await SchemaLock.acquire(on: transaction)
            let number = try await LedgerGenerations.read(on: transaction).current + 1
            guard try await !PartitionStatements.generations(on: transaction).contains("attemptledger_\(number)") else { return }
            try await PartitionStatements.createGeneration(number, on: transaction)
        }
    }

    /// From here the prepared generation takes new ids, and the eight before stay readable. False: it was not due, or writers did not end
    /// in time; they are not suppressed for longer.
    func switchOver(now: Timestamp, waitLimit: String = "2s", isDue: (Timestamp) -> Bool) async throws -> Bool {
        guard isDue(try await LedgerGenerations.read(on: pool).rotatedAt) else { return false }
        do {
            return try await pool.withTransaction(retrying: .never) { transaction in
                try await SchemaLock.acquire(on: transaction)
                try await transaction.execute("SET LOCAL lock_timeout = '\(raw: waitLimit)'")
                // Waits for the batches in progress and blocks new ones, so that none misses the ids of another.
                try await transaction.execute("LOCK TABLE ledgerState IN ACCESS EXCLUSIVE MODE")
                let state = try await LedgerGenerations.read(on: transaction)
                guard isDue(state.rotatedAt) else { return false }
                let moments = ([now] + state.frozen.map(\.frozenAt)).prefix(LedgerGenerations.mostFrozen)
                try await transaction.execute(
                    "UPDATE ledgerState SET currentGeneration = \(state.current + 1), frozenAt = \(Array(moments)) WHERE id = 1"
                )
                return true
            }
        } catch let error as PostgresError where error.code == .lockNotAvailable {
            return false
        }
    }

    /// Generations that no writer reads any more.
    func expired() async throws -> [String] {
        let state = try await LedgerGenerations.read(on: pool)
        return try await PartitionStatements.generations(on: pool).filter { name in
            name.split(separator: "_").last.flatMap { Int32($0) }.map { $0 < state.oldest } ?? false
        }.sorted()
    }
}
