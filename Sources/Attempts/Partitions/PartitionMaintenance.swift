package import Logging
import Metrics
package import Postgres
package import PushContract
import ServiceKit
import ServiceLifecycle

/// Creates partitions ahead, drops those past their retention, rotates the ledger's generations, and compacts the counts of past hours. Any
/// number may run.
///
/// A partition that is created too early does no harm; one that is dropped too early is lost. So an instance whose clock differs too much
/// from the database's creates partitions and does nothing else.
package struct PartitionMaintenance: Service {
    private let pool: PostgresPool
    private let plan: PartitionPlan
    private let logger: Logger
    private let interval: Duration
    private let clockTolerance: Duration?
    private let retirement: PartitionRetirement
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Timestamp
    private static let retryInterval = Duration.seconds(60)
    private static let failures = Counter(label: "pushwatch_partition_drop_failures_total")

    /// - Parameters:
    ///   - clockTolerance: how far this clock may be from the database's; nil for tests with a synthetic time.
    ///   - waitLimit: how long one step of dropping waits for readers; 1.5 s unless said.
    package init(
        pool: PostgresPool,
        plan: PartitionPlan = PartitionPlan(),
        interval: Duration = .seconds(600),
        clockTolerance: Duration? = .seconds(3600),
        waitLimit: Duration? = nil,
        logger: Logger,
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) {
        self.pool = pool
        self.plan = plan
        self.interval = interval
        self.clockTolerance = clockTolerance
        retirement = PartitionRetirement(pool: pool, waitLimit: waitLimit ?? PartitionRetirement.standardWaitLimit)
        self.logger = logger
        self.clock = clock
        self.now = now
        Self.failures.increment(by: 0)
    }

    /// Round after round. The first one at the start of a server is its gate's, before anything is written; this goes on a minute later,
    /// also after a failure there.
    package func run() async throws {
        let service = PeriodicService(
            "partition maintenance",
            every: interval,
            retryInterval: Self.retryInterval,
            initialDelay: Self.retryInterval,
            clock: clock,
            logger: logger,
            failureLevel: .error
        ) {
            do {
                try await maintain()
            } catch let error as PostgresError {
                throw Failure(description: error.description)
            }
        }
        try await service.run()
    }

    /// The owner's login may fail where the heartbeat's does not: no outage that is watched.
    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// One round. Idempotent; several instances take turns by a lock. A part that fails stops no other part; the first fault is thrown at
    /// the end.
    package func maintain() async throws {
        let now = now()
        let failures = try await ensure(facts: plan.facts(now: now), rollups: plan.rollups(now: now))
        for (partition, error) in failures {
            logger.error(
                "a partition could not be made; the next round tries again",
                metadata: ["partition": "\(partition)", "error": "\(error)"]
            )
        }
        var fault = failures.first?.error
        let rotation = LedgerRotation(pool: pool)
        let moment = try await confirmedClock(now)
        do {
            try await rotate(rotation, at: moment)
        } catch let error as PostgresError where isPartial(error) {
            logger.error("the ledger was not rotated; the next round tries again", metadata: ["error": "\(error)"])
            fault = fault ?? error
        }
        if moment != nil {
            await retire(now: now, rotation)
            await compact(now: now)
        }
        if let fault { throw fault }
    }

    /// What is due; without a confirmed clock only the next generation is made.
    private func rotate(_ rotation: LedgerRotation, at moment: Timestamp?) async throws {
        try await rotation.prepare()
        guard let moment else { return }
        if try await rotation.switchOver(now: moment, isDue: { plan.generationIsDue(rotatedAt: $0, now: moment) }) {
            logger.info("ledger generation rotated")
            try await rotation.prepare()
        }
    }

    /// The rest of a round may work after it.
    private func isPartial(_ error: PostgresError) -> Bool { !error.isUnavailable && !Task.isCancelled }

    /// A fault costs space and stops nothing; the hour comes again.
    private func compact(now: Timestamp) async {
        let compaction = RollupCompaction(pool: pool)
        for hour in RollupCompaction.hours(now: now, round: interval, days: plan.factRetentionDays) {
            do {
                try await compaction.compact(hour: hour)
            } catch {
                if Task.isCancelled { return }
                logger.warning("the counts of an hour were not compacted", metadata: ["hour": "\(hour)", "error": "\(error)"])
            }
        }
    }

    /// The database's clock, which decides how long generations last, whichever instance rotates; nil where this one differs too much.
    private func confirmedClock(_ now: Timestamp) async throws -> Timestamp? {
        guard let clockTolerance, let row = try await pool.query("SELECT clock_timestamp()").first else { return now }
        let database = try row.decode(Timestamp.self)
        if abs((now - database).microseconds) <= clockTolerance.microseconds { return database }
        logger.error(
            "this machine's clock and the database's differ too much: nothing is dropped or rotated until they agree",
            metadata: ["here": "\(now)", "database": "\(database)"]
        )
        return nil
    }

    /// The partitions a batch of any age needs: for imports, and for a clock that ran ahead of the maintaining instance.
    package func ensurePartitions(for batch: AttemptBatch) async throws {
        let days = Set(batch.records.map(\.attemptedAt.day))
        try await ensurePartitions(forDays: days)
    }

    package func ensurePartitions(forDays days: Set<Int64>) async throws {
        let failures = try await ensure(
            facts: days.sorted().map(PartitionPlan.fact(day:)),
            rollups: Array(Set(days.map(PartitionPlan.rollup(day:)))).sorted { $0.from < $1.from }
        )
        if let failure = failures.first { throw failure.error }
    }

    /// Those of the days whose attempts are gone while the rollups count them still: whatever is stored of them would count twice.
    func daysWithoutAttempts(of days: Set<Int64>) async throws -> Set<Int64> {
        let existing = try await PartitionStatements.names(on: pool)
        var found: Set<Int64> = []
        for day in days where !existing.contains(PartitionPlan.fact(day: day).name.lowercased()) {
            if try await pool.query(PartitionStatements.isCounted(day))[0].decode(Bool.self) { found.insert(day) }
        }
        return found
    }

    /// Makes those that are missing, each for itself: one that cannot be made stops no other one. Answers what failed.
    private func ensure(
        facts: [PartitionPlan.Partition],
        rollups: [PartitionPlan.Partition]
    ) async throws -> [(partition: String, error: PostgresError)] {
        let existing = try await PartitionStatements.names(on: pool)
        let missing =
            facts.map { ($0, "notificationDeliveryAttempts", "attemptedAt") }
            + rollups.flatMap { [($0, "attemptRollups", "minute"), ($0.latencies, "attemptLatencies", "minute")] }
        var failures: [(partition: String, error: PostgresError)] = []
        for (partition, parent, column) in missing where !existing.contains(partition.name.lowercased()) {
            do {
                try await make(partition, of: parent, column: column)
            } catch let error as PostgresError where isPartial(error) {
                failures.append((partition.name, await LockHolder.named(error, on: pool)))
                // The others would wait for the same session.
                if error.code == .lockNotAvailable { break }
            }
        }
        return failures
    }

    private func make(_ partition: PartitionPlan.Partition, of parent: String, column: String) async throws {
        try await pool.withTransaction { transaction in
            try await SchemaLock.acquire(on: transaction)
            let name = partition.name.lowercased()
            guard try await !PartitionStatements.names(on: transaction).contains(name) else { return }
            guard try await !PartitionStatements.isTable(name, on: transaction) else {
                throw PostgresError(
                    .duplicateTable,
                    "the table \(name) exists and is no partition of \(parent): it was detached by hand; attach it again or rename it"
                )
            }
            try await PartitionStatements.create(partition, of: parent, column: column, on: transaction)
        }
        logger.info("partition made", metadata: ["partition": "\(partition.name)"])
    }

    /// Rotates whether or not it is due: for benches and tests.
    package func rotateLedgerNow() async throws {
        let rotation = LedgerRotation(pool: pool)
        try await rotation.prepare()
        guard try await rotation.switchOver(now: now(), waitLimit: "30s", isDue: { _ in true }) else {
            throw PostgresError(.lockNotAvailable, "the ledger's writers did not end in time")
        }
        for name in try await rotation.expired() { _ = try await retirement.retire(name, of: "attemptLedger") }
    }

    /// What has expired is dropped, each for itself: a partition that cannot be dropped costs space and stops nothing, neither the others
    /// nor a start. The next round tries again.
    private func retire(now: Timestamp, _ rotation: LedgerRotation) async {
        await attempt("all") {
            try await retirement.correctMarks()
            for (name, parent) in try await retirement.incomplete() {
                await attempt(name) { report(name, try await retirement.finish(name, of: parent)) }
            }
            let expired = try await PartitionStatements.names(on: pool).filter { name in
                PartitionStatements.parse(name).map { isExpired($0, now: now) } ?? false
            }
            for name in try await expired.sorted() + rotation.expired() {
                await attempt(name) { report(name, try await retirement.retire(name, of: PartitionStatements.parent(of: name))) }
            }
        }
    }

    private func attempt(_ name: String, _ body: () async throws -> Void) async {
        do {
            try await body()
        } catch {
            if Task.isCancelled { return }
            PartitionMaintenance.failures.increment()
            logger.error(
                "an expired partition could not be dropped; the next round tries again",
                metadata: ["partition": "\(name)", "error": "\(error)"]
            )
        }
    }

    private func report(_ name: String, _ outcome: PartitionRetirement.Outcome) {
        switch outcome {
        case .dropped: logger.info("expired partition dropped", metadata: ["partition": "\(name)"])
        case .later: logger.info("expired partition is still being read; dropped later", metadata: ["partition": "\(name)"])
        }
    }

    private func isExpired(_ parsed: PartitionStatements.Parsed, now: Timestamp) -> Bool {
        switch parsed {
        case .fact(let day): plan.isExpired(factDay: day, now: now)
        case .rollup(let partition): plan.isExpired(rollup: partition, now: now)
        }
    }
}
