package import Postgres
package import PushContract

/// Writes a batch as what it nearly always is: all new, and under the generations seen last. In the caller's transaction, or in one of its
/// own; in one round trip for small batches.
///
/// It assumes and lets the database contradict: the first statement fails when the generations are others, or when a frozen one
/// contains a key; the ledger's key fails when the current one does. Then nothing has happened, and `AttemptWriter` looks at each attempt.
package struct FreshWriter {
    /// Up to so many keys, those of a transaction of its own go with the first statements: a COPY of their own would take a round trip
    /// more. In a caller's transaction, which is often large, they always go by COPY, which writes 50 bytes less WAL a key.
    private static let insertedKeys = 64

    private let hints: LedgerHints
    private let expectation: KeyExpectation
    let slot: Int16

    /// For the attempts that come one way: where some are repeated, it expects more of them. The rest as for `AttemptWriter`.
    package init(hints: LedgerHints, slot: Int16) {
        self.init(hints: hints, slot: slot, expectation: KeyExpectation())
    }

    init(hints: LedgerHints, slot: Int16, expectation: KeyExpectation) {
        self.hints = hints
        self.slot = slot
        self.expectation = expectation
    }

    /// False: the batch is to be written the other way; nothing of it was.
    ///
    /// - Parameter lockLimit: of a transaction of its own: throws `lockNotAvailable` when a lock is waited for longer.
    package func write(
        _ batch: AttemptBatch,
        receivedAt: Timestamp,
        lockLimit: Duration? = nil,
        on connection: BlockingConnection
    ) throws -> Bool {
        guard let generations = hints.generations, expectation.expectsNewKeys() else { return false }
        let groups = AttemptGroups(batch)
        // What reaches back behind the ledger is looked for among the facts.
        guard let oldest = batch.oldestAttemptedAt, oldest >= generations.knownSince else { return false }
        guard groups.areDistinct else { return false }
        var checks = [generations.guardQuery(lockLimit: lockLimit)]
        let suspects = hints.suspects(groups.keys, of: generations)
        if !suspects.keys.isEmpty { checks.append(LedgerStatements.unknown(suspects.keys, generations: suspects.generations)) }
        let ledger = groups.firstReports(of: batch)
        let isNested = connection.isInTransaction
        // Without BEGIN a pipeline is one transaction as well, but not on distributed tables: each statement is committed alone there.
        let begin: Query = isNested ? "SAVEPOINT fresh" : "BEGIN"
        do {
            if batch.count < CopyStream.minimumRows {
                let keys = LedgerStatements.insertNew(ledger, generation: generations.current)
                let facts = batch.records.map { FactInsert.query($0, of: batch, receivedAt: receivedAt) }
                let end: Query = isNested ? "RELEASE SAVEPOINT fresh" : "COMMIT"
                try connection.pipeline([begin] + checks + keys + facts + rollups(batch, now: receivedAt) + [end])
            } else if isNested {
                try connection.pipeline([begin] + checks)
                try copy(batch, keys: ledger, generation: generations.current, receivedAt: receivedAt, on: connection)
                for query in rollups(batch, now: receivedAt) + ["RELEASE SAVEPOINT fresh"] { try connection.executeLater(query) }
            } else {
                let insertsKeys = ledger.count <= FreshWriter.insertedKeys
                let keys = insertsKeys ? LedgerStatements.insertNew(ledger, generation: generations.current) : []
                // The counts before the rows, which saves a round trip. They are of this writer's slot, so nobody waits for them.
                try connection.pipeline([begin] + checks + keys + rollups(batch, now: receivedAt))
                try copy(
                    batch,
                    keys: insertsKeys ? [] : ledger,
                    generation: generations.current,
                    receivedAt: receivedAt,
                    commits: true,
                    on: connection
                )
            }
        } catch {
            if !isNested { connection.rollBack() }
            // Where the ledger is distributed a known key is an internal error, and so is a part of the database that is away: the other
            // way of writing distinguishes them.
            guard let cause = error as? PostgresError, cause.isContradiction || cause.code == .internalError else { throw error }
            if isNested {
                // There is none if what failed was a statement of the caller's, before it.
                do { try connection.executeScript("ROLLBACK TO SAVEPOINT fresh") } catch { throw cause }
            }
            expectation.foundDuplicates()
            return false
        }
        expectation.foundNewKeysOnly()
        return true
    }

    private func copy(
        _ batch: AttemptBatch,
        keys: [AttemptBatch.Record],
        generation: Int32,
        receivedAt: Timestamp,
        commits: Bool = false,
        on connection: BlockingConnection
    ) throws {
        let ledger = LedgerCopy.stream(keys, generation: generation)
        let facts = FactCopy.stream(of: batch, receivedAt: receivedAt)
        try ledger.withUnsafeBytes { ledger in
            _ = try facts.withUnsafeBytes { facts in
                let copies = (keys.isEmpty ? [] : [(LedgerCopy.statement, ledger)]) + [(FactCopy.statement, facts)]
                try connection.copyIn(copies, commits: commits)
            }
        }
    }

    private func rollups(_ batch: AttemptBatch, now: Timestamp) -> [Query] {
        var delta = RollupDelta()
        for record in batch.records { delta.count(record, of: batch, attemptedAt: record.attemptedAt) }
        return delta.queries(slot: slot, now: now)
    }
}

extension PostgresError {
    /// What was assumed is not so: a key is known, the generations have changed, or a partition is missing.
    fileprivate var isContradiction: Bool { code == .uniqueViolation || code == .divisionByZero || code == .checkViolation }
}
