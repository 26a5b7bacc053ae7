package import Postgres
package import PushContract

/// The one way attempts get into the database: ledger, facts and rollups, inside the caller's transaction.
///
/// The ledger decides which attempts are new; facts and rollups follow. Callers take their own row locks (leases, devices) before they call
/// this, never after, so that all use one lock order.
package enum AttemptWriter {
    /// Writes a batch and returns the result of each of its attempts, in order.
    ///
    /// - Parameters:
    ///   - slot: which rollup rows to count in; writers with different slots never wait for each other's counts.
    ///   - hints: this process's cached facts about the ledger, for speed alone.
    ///   - checksOldFacts: also looks for the rows among the facts, up to a day from their stamps, for imports that reach back behind the
    ///     ledger. The same is done for any batch that does, whatever the clock says that let it in.
    package static func write(
        _ batch: AttemptBatch,
        on connection: BlockingConnection,
        slot: Int16,
        receivedAt: Timestamp,
        checksOldFacts: Bool = false,
        hints: LedgerHints? = nil
    ) throws -> [AttemptResult] {
        guard !batch.isEmpty else { return [] }
        let generations = try LedgerGenerations.read(connection)
        hints?.record(generations)
        let groups = AttemptGroups(batch)
        let suspects = (hints ?? LedgerHints()).suspects(groups.keys, of: generations)
        let frozen = try LedgerStatements.known(suspects.keys, generations: suspects.generations, on: connection)
        var known = Dictionary(frozen.map { ($0.key, $0) }, uniquingKeysWith: { $1 })
        let isOlder = batch.oldestAttemptedAt.map { $0 < generations.knownSince } ?? false
        let stored =
            checksOldFacts || isOlder ? try readStored(of: batch, known: known, generation: generations.current, on: connection) : [:]
        known = try claim(
            groups,
            of: batch,
            known: known,
            stored: stored,
            generation: generations.current,
            receivedAt: receivedAt,
            on: connection
        )
        var outcome = groups.fold(batch, known: known)

        var delta = RollupDelta()
        if !outcome.moves.isEmpty {
            let before = try FactStatements.stored(outcome.moves.map(\.entry), on: connection)
            // A later status folds a label as the first one did.
            for index in outcome.moves.indices {
                guard let old = before[outcome.moves[index].entry.key] else { continue }
                outcome.moves[index].record.keepFolded(of: old, in: batch)
            }
            try FactStatements.advance(outcome.moves, of: batch, on: connection)
            for move in outcome.moves {
                // A row whose partition was dropped meanwhile has left the rollups' recount as well.
                guard let old = before[move.entry.key] else { continue }
                delta.count(old.attempt, folded: old.folded, sign: -1)
                delta.count(move.record, of: batch, attemptedAt: move.entry.attemptedAt)
            }
        }
        if !outcome.inserts.isEmpty {
            outcome.inserts.sort { $0.index < $1.index }
            try FactStatements.copy(outcome.inserts, of: batch, receivedAt: receivedAt, on: connection)
            for insert in outcome.inserts {
                delta.count(batch.records[insert.index], of: batch, attemptedAt: insert.attemptedAt)
            }
        }
        try delta.apply(slot: slot, now: receivedAt, on: connection)
        return try answers(outcome, batch: batch, known: known, on: connection)
    }

    /// What is stored of ids that the ledger may no longer have, as entries of it: where the reports say, which is one probe each, and what
    /// is not there near it, since another export or a resend may have other stamps.
    private static func readStored(
        of batch: AttemptBatch,
        known: [AttemptKey: LedgerEntry],
        generation: Int32,
        on connection: BlockingConnection
    ) throws -> [AttemptKey: LedgerEntry] {
        let unknown = batch.records.filter { known[$0.key] == nil }
        var stored = try FactStatements.stored(unknown.map { (key: $0.key, attemptedAt: $0.attemptedAt) }, on: connection)
        let missing = unknown.filter { stored[$0.key] == nil }
        stored.merge(try FactStatements.stored(near: missing, of: batch, on: connection)) { exact, _ in exact }
        return stored.mapValues { LedgerEntry($0.attempt, generation: generation) }
    }

    /// Enters the batch's ids into the ledger, forgotten ones as they are stored. Returns what was known of those that were not new.
    private static func claim(
        _ groups: AttemptGroups,
        of batch: AttemptBatch,
        known: [AttemptKey: LedgerEntry],
        stored: [AttemptKey: LedgerEntry],
        generation: Int32,
        receivedAt: Timestamp,
        on connection: BlockingConnection
    ) throws -> [AttemptKey: LedgerEntry] {
        var known = known
        let reports = groups.firstReports(of: batch)
        var candidates = known.isEmpty ? reports : reports.filter { known[$0.key] == nil }
        if !stored.isEmpty {
            for index in candidates.indices {
                guard let entry = stored[candidates[index].key] else { continue }
                candidates[index].fingerprint = entry.known.fingerprint
                candidates[index].attemptedAt = entry.attemptedAt
                candidates[index].status = entry.known.status
            }
            known.merge(stored) { old, _ in old }
        }
        let existingKeys = try LedgerStatements.insert(candidates, generation: generation, on: connection)
        // A new statement, and so a new snapshot: the writer that was first has committed.
        for entry in try LedgerStatements.known(existingKeys, generations: [generation], on: connection) { known[entry.key] = entry }
        if known.isEmpty { return known }
        try markFixed(&known, groups, of: batch, receivedAt: receivedAt, on: connection)
        return try advance(known, groups, of: batch, on: connection)
    }

    /// Marks what would move and is of a day that is stored by columns: rows of such a day cannot be updated. Only days that are over are.
    private static func markFixed(
        _ known: inout [AttemptKey: LedgerEntry],
        _ groups: AttemptGroups,
        of batch: AttemptBatch,
        receivedAt: Timestamp,
        on connection: BlockingConnection
    ) throws {
        let moves = groups.fold(batch, known: known).moves.map(\.entry).filter { $0.attemptedAt.day < receivedAt.day }
        guard !moves.isEmpty else { return }
        let days = try FactStatements.columnarDays(of: Set(moves.map(\.attemptedAt.day)), on: connection)
        for entry in moves where days.contains(entry.attemptedAt.day) { known[entry.key]?.known.cannotChange = true }
    }

    /// Takes known entries forward in the ledger. Returns what they were when they were taken, which is what the reports are judged by:
    /// what another batch has moved meanwhile is read again.
    private static func advance(
        _ known: [AttemptKey: LedgerEntry],
        _ groups: AttemptGroups,
        of batch: AttemptBatch,
        on connection: BlockingConnection
    ) throws -> [AttemptKey: LedgerEntry] {
        var known = known
        var taken: Set<AttemptKey> = []
        while true {
            let moves = groups.fold(batch, known: known).moves.filter { !taken.contains($0.entry.key) }
            guard !moves.isEmpty else { return known }
            let advanced = try LedgerStatements.advance(moves, on: connection)
            taken.formUnion(advanced)
            let moved = moves.map(\.entry).filter { !advanced.contains($0.key) }
            let entries = try LedgerStatements.known(moved.map(\.key), generations: Array(Set(moved.map(\.generation))), on: connection)
            for entry in entries { known[entry.key] = entry }
        }
    }

    private static func answers(
        _ outcome: AttemptGroups.Outcome,
        batch: AttemptBatch,
        known: [AttemptKey: LedgerEntry],
        on connection: BlockingConnection
    ) throws -> [AttemptResult] {
        let conflicting = Set(outcome.progress.indices.filter { outcome.progress[$0] == .conflict }.map { batch.records[$0].key })
        var stored: [AttemptKey: Attempt] = [:]
        if !conflicting.isEmpty {
            stored = try FactStatements.stored(conflicting.compactMap { known[$0] }, on: connection).mapValues(\.attempt)
            // Both reports stood in this very batch: what is stored is the first one.
            for insert in outcome.inserts where conflicting.contains(batch.records[insert.index].key) {
                stored[batch.records[insert.index].key] = batch[insert.index]
            }
        }
        return outcome.progress.enumerated().map { index, progress in
            switch progress {
            case .accepted: .accepted
            case .duplicate: .duplicate
            case .advanced: .advanced
            case .conflict: .conflict(stored: stored[batch.records[index].key])
            }
        }
    }
}

extension AttemptBatch.Record {
    /// A label whose value is the stored one is folded as it is stored.
    fileprivate mutating func keepFolded(of stored: FactStatements.Stored, in batch: AttemptBatch) {
        let labels: [(FoldedLabels, AttemptColumn, String?)] = [
            (.app, .app, stored.attempt.app), (.appVersion, .appVersion, stored.attempt.appVersion),
            (.providerErrorCode, .providerErrorCode, stored.attempt.providerErrorCode), (.pushType, .pushType, stored.attempt.pushType),
        ]
        for (label, column, value) in labels where batch.string(self[column]) == value {
            if stored.folded.contains(label) { folded.insert(label) } else { folded.remove(label) }
        }
    }
}
