package import Logging
import Metrics
package import Postgres
package import PushContract
import ServiceLifecycle

/// Group commit: requests that arrive while a transaction is under way share the next one, and each is answered after the commit.
///
/// Several writers, each with its own rollup slot. What needs a key that another transaction holds (a stopped instance's) is set aside, so
/// that the rest does not wait with it. On shutdown new batches are refused and what waits is written.
package final class AttemptIngestor: Service {
    /// A batch is idempotent, so a lost connection allows another attempt. What met a lock is tried apart from the others.
    private static let retry = TransactionRetry.idempotent.except(.lockNotAvailable)

    private let pool: PostgresPool
    private let queue: IngestQueue
    private let slots: [Int16]
    private let maintenance: PartitionMaintenance
    private let hints: LedgerHints
    private let expectation = KeyExpectation()
    private let uncommitted: UncommittedOutcomes
    private let logger: Logger
    private let now: @Sendable () -> Timestamp

    /// - Parameters:
    ///   - writers: transactions in flight at most; each keeps a connection.
    ///   - uncommitted: counts what waits here.
    ///   - hints: of this process.
    ///   - firstSlot: where this process's rollup slots begin; processes that share a database should differ.
    package init(
        pool: PostgresPool,
        maintenance: PartitionMaintenance,
        writers: Int = 3,
        firstSlot: Int16 = Int16.random(in: 0..<64) * 4,
        limits: IngestLimits = IngestLimits(),
        hints: LedgerHints = LedgerHints(),
        uncommitted: UncommittedOutcomes = UncommittedOutcomes(),
        logger: Logger,
        now: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) {
        self.pool = pool
        self.maintenance = maintenance
        self.uncommitted = uncommitted
        queue = IngestQueue(limits: limits)
        self.hints = hints
        slots = (0..<writers).map { firstSlot + Int16($0) }
        self.logger = logger
        self.now = now
    }

    /// Refuses at once what `submit` would refuse after the body was read.
    func checkAdmission(bodyBytes: Int?) throws(IngestRefusal) {
        if let refusal = queue.refusal(bodyBytes: bodyBytes) { throw refusal }
    }

    /// Stores a batch and returns after its commit, or throws with nothing stored (after a lost connection: perhaps stored; a resend
    /// finds out).
    package func submit(_ batch: AttemptBatch) async throws -> [AttemptResult] {
        try await uncommitted.during(batch.oldestAttemptedAt, arrivedAt: now()) { try await queue.submit(batch) }
    }

    /// Once it is known what runs the database.
    package func adapt(to engine: DatabaseEngine) { queue.adapt(to: engine) }

    package func run() async throws {
        IngestMetrics.begin()
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                for slot in slots { group.addTask { await self.write(slot: slot) } }
                group.addTask { await self.expire() }
            }
        } onGracefulShutdown: {
            self.queue.close()
        }
    }

    /// One timer for all requests: one for each would cost more than storing its attempts.
    private func expire() async {
        while queue.expire() {
            // Also while no transaction ends.
            IngestMetrics.waitingRows.record(queue.waitingRows)
            // Cancelled: the writers end, and with them every answer.
            guard (try? await Task.sleep(for: .milliseconds(50))) != nil else { return }
        }
    }

    /// Takes work and writes it until the queue is closed and drained. While all goes well and there is work the connection
    /// stays with the writer.
    private func write(slot: Int16) async {
        await withTaskCancellationHandler {
            while case let entries = await queue.take(), !entries.isEmpty {
                do {
                    let left = try await pool.withConnection { connection in
                        try await connection.perform { self.write(entries, andQueuedOn: $0, slot: slot) }
                    }
                    guard let left else { continue }
                    await commit(left, slot: slot)
                    queue.finish(left)
                } catch {
                    // No connection: nothing was begun.
                    await commit(entries, slot: slot)
                    queue.finish(entries)
                }
            }
        } onCancel: {
            queue.close()
        }
    }

    /// Writes these entries and then those that come, blocking the connection's thread. Returns what could not be written.
    private func write(_ first: [IngestQueue.Entry], andQueuedOn connection: BlockingConnection, slot: Int16) -> [IngestQueue.Entry]? {
        let fresh = FreshWriter(hints: hints, slot: slot, expectation: expectation)
        var entries = first
        while !entries.isEmpty {
            let batch = merge(entries)
            do {
                let start = ContinuousClock.now
                answer(entries, try store(batch, fresh, lockLimit: queue.lockLimit(of: entries), on: connection), since: start)
            } catch let error as PostgresError where error.code == .lockNotAvailable {
                addLocked(entries, because: error)
            } catch {
                logger.debug("a batch is written again", metadata: ["error": "\(error)"])
                return entries
            }
            entries = queue.finishAndTakeBlocking(entries)
        }
        return nil
    }

    private func store(
        _ batch: AttemptBatch,
        _ fresh: FreshWriter,
        lockLimit: Duration?,
        on connection: BlockingConnection
    ) throws -> [AttemptResult] {
        let receivedAt = now()
        if try fresh.write(batch, receivedAt: receivedAt, lockLimit: lockLimit, on: connection) {
            return Array(repeating: .accepted, count: batch.count)
        }
        return try connection.transaction {
            if let lockLimit { try $0.executeLater(LedgerStatements.limitWaits(to: lockLimit)) }
            return try AttemptWriter.write(batch, on: $0, slot: fresh.slot, receivedAt: receivedAt, hints: hints)
        }
    }

    private func merge(_ entries: [IngestQueue.Entry]) -> AttemptBatch {
        var merged = entries[0].batch
        if entries.count > 1 {
            merged.reserveCapacity(
                records: entries.reduce(0) { $0 + $1.batch.count },
                text: entries.reduce(0) { $0 + $1.batch.text.count }
            )
        }
        for entry in entries.dropFirst() { merged.append(contentsOf: entry.batch) }
        return merged
    }

    private func answer(_ entries: [IngestQueue.Entry], _ results: [AttemptResult], since start: ContinuousClock.Instant) {
        IngestMetrics.commit.recordNanoseconds((ContinuousClock.now - start).microseconds * 1000)
        IngestMetrics.rowsPerCommit.record(results.count)
        IngestMetrics.count(results)
        var rest = results[...]
        for entry in entries {
            entry.answer.give(.success(Array(rest.prefix(entry.batch.count))))
            rest = rest.dropFirst(entry.batch.count)
        }
    }

    /// Entries whose first try failed: written again with patience, and at last each request alone.
    private func commit(_ entries: [IngestQueue.Entry], slot: Int16) async {
        let merged = merge(entries)
        do {
            let start = ContinuousClock.now
            let results = try await store(merged, slot: slot, lockLimit: queue.lockLimit(of: entries)) {
                entries.allSatisfy(\.answer.isGiven)
            }
            answer(entries, results, since: start)
        } catch let error as PostgresError where error.code == .lockNotAvailable {
            addLocked(entries, because: error)
        } catch let error where entries.count > 1 && !isUnavailable(error) {
            // One request's rows must not fail another's: each on its own.
            for entry in entries { await commit([entry], slot: slot) }
        } catch {
            logger.warning("a batch was not stored", metadata: ["rows": "\(merged.count)", "error": "\(error)"])
            IngestMetrics.failures.increment()
            for entry in entries { entry.answer.give(.failure(error)) }
        }
    }

    /// Of a transaction that met a lock.
    private func addLocked(_ entries: [IngestQueue.Entry], because error: PostgresError) {
        let refused = queue.addLocked(entries, because: error)
        guard refused > 0 else { return }
        logger.warning("requests that need locks were not stored", metadata: ["requests": "\(refused)", "error": "\(error)"])
        IngestMetrics.failures.increment(by: refused)
    }

    /// One transaction in one hop, run again when nothing of it can have remained or running it again changes nothing, while a request
    /// still waits for it.
    private func store(
        _ batch: AttemptBatch,
        slot: Int16,
        lockLimit: Duration?,
        isAbandoned: @Sendable () -> Bool
    ) async throws -> [AttemptResult] {
        try await AttemptIngestor.retry.run { error, failures in
            if isAbandoned() { throw error }
            logger.debug("a batch is written again", metadata: ["error": "\(error)"])
            if error.isMissingPartition { try await maintenance.ensurePartitions(for: batch) }
            // Where a part of the database is away, the error may hide that a partition is missing. Whether it can be made now or not, the
            // batch is tried again.
            if error.code == .internalError, failures == 1 { try? await maintenance.ensurePartitions(for: batch) }
        } _: {
            let receivedAt = now()
            return try await pool.performTransaction(retrying: .never) {
                if let lockLimit { try $0.executeLater(LedgerStatements.limitWaits(to: lockLimit)) }
                return try AttemptWriter.write(batch, on: $0, slot: slot, receivedAt: receivedAt, hints: self.hints)
            }
        }
    }

    private func isUnavailable(_ error: any Error) -> Bool {
        (error as? PostgresError)?.isUnavailable ?? (error is CancellationError)
    }
}
