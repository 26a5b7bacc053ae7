package import Logging
package import Postgres
package import PushContract
package import ServiceLifecycle

/// Makes partitions ahead, drops those past their retention, and rotates the ledger's generations. Any number may run.
package struct PartitionKeeper: Service {
    private let pool: PostgresPool
    private let plan: PartitionPlan
    private let logger: Logger
    private let interval: Duration
    private let now: @Sendable () -> Timestamp

    package init(
        pool: PostgresPool,
        plan: PartitionPlan = PartitionPlan(),
        interval: Duration = .seconds(600),
        logger: Logger,
        now: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) {
        self.pool = pool
        self.plan = plan
        self.interval = interval
        self.logger = logger
        self.now = now
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    try await keep()
                } catch is CancellationError {
                    return
                } catch {
                    logger.error("partitions could not be kept; tried again in a minute", metadata: ["error": "\(error)"])
                    try? await Task.sleep(for: .seconds(60))
                    continue
                }
                try? await Task.sleep(for: interval)
            }
        }
    }

    /// One round. Idempotent; several keepers take turns by a lock.
    package func keep() async throws {
        let now = now()
        try await ensure(facts: plan.facts(now: now), rollups: plan.rollups(now: now))
        try await rotateLedger(now: now)
        try await dropExpired(now: now)
    }

    /// The partitions a batch of any age needs: for imports, and for a clock that ran ahead of the keeper.
    package func ensurePartitions(for batch: AttemptBatch) async throws {
        let days = Set(batch.records.map(\.attemptedAt.day))
        try await ensurePartitions(forDays: days)
    }

    package func ensurePartitions(forDays days: Set<Int64>) async throws {
        try await ensure(
            facts: days.sorted().map(PartitionPlan.fact(day:)),
            rollups: Array(Set(days.map(PartitionPlan.rollup(day:)))).sorted { $0.from < $1.from }
        )
    }

    private func ensure(facts: [PartitionPlan.Partition], rollups: [PartitionPlan.Partition]) async throws {
        let existing = try await PartitionStatements.names(on: pool)
        let missing = facts.map { ($0, "notificationDeliveryAttempts", "attemptedAt") } + rollups.map { ($0, "attemptRollups", "minute") }
        for (partition, parent, column) in missing where !existing.contains(partition.name.lowercased()) {
            try await pool.withTransaction { transaction in
                try await PartitionStatements.takeTurns(on: transaction)
                guard try await !PartitionStatements.names(on: transaction).contains(partition.name.lowercased()) else { return }
                try await PartitionStatements.create(partition, of: parent, column: column, on: transaction)
            }
            logger.info("partition made", metadata: ["partition": "\(partition.name)"])
        }
    }

    private func rotateLedger(now: Timestamp) async throws {
        let rotated = try await pool.withTransaction { transaction in
            try await PartitionStatements.takeTurns(on: transaction)
            let rows = try await transaction.query("SELECT rotatedAt FROM ledgerState WHERE id = 1")
            guard let row = rows.first, plan.generationIsDue(rotatedAt: try row.decode(Timestamp.self), now: now) else { return false }
            try await PartitionStatements.rotateLedger(now: now, on: transaction)
            return true
        }
        if rotated { logger.info("ledger generation rotated") }
    }

    /// Rotates whether or not it is due: for benches.
    package func rotateLedgerNow() async throws {
        let now = now()
        try await pool.withTransaction { transaction in
            try await PartitionStatements.takeTurns(on: transaction)
            try await PartitionStatements.rotateLedger(now: now, on: transaction)
        }
    }

    private func dropExpired(now: Timestamp) async throws {
        for name in try await PartitionStatements.names(on: pool) {
            guard let partition = PartitionStatements.parse(name), isExpired(partition, now: now) else { continue }
            do {
                try await pool.withTransaction { transaction in
                    try await PartitionStatements.takeTurns(on: transaction)
                    try await PartitionStatements.drop(name, on: transaction)
                }
                logger.info("expired partition dropped", metadata: ["partition": "\(name)"])
            } catch let error as PostgresError where error.code == .lockNotAvailable {
                logger.info("expired partition is being read; dropped later", metadata: ["partition": "\(name)"])
            }
        }
    }

    private func isExpired(_ parsed: PartitionStatements.Parsed, now: Timestamp) -> Bool {
        switch parsed {
        case .fact(let day): plan.isExpired(factDay: day, now: now)
        case .rollup(let partition): plan.isExpired(rollup: partition, now: now)
        }
    }
}
