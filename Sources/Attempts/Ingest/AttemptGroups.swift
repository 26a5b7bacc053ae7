import Postgres
import PushContract

/// The reports of a batch, grouped by attemptId and in the order every batch takes its locks in.
struct AttemptGroups {
    /// What is to be written, and what each report is.
    struct Outcome {
        var progress: [AttemptProgress]
        var inserts: [Insert] = []
        var moves: [AttemptMove] = []
    }

    /// A report that becomes a new row.
    struct Insert {
        var index: Int
        /// Of the id's first report: that one stays, whichever report brings the status.
        var attemptedAt: Timestamp
    }

    /// Indices of the batch, ordered by key and, within a key, as they came.
    private let order: [Int]
    /// The distinct keys, ascending.
    let keys: [AttemptKey]

    init(_ batch: AttemptBatch) {
        var sorted = batch.records.enumerated().map { (key: $0.element.key, index: $0.offset) }
        sorted.sort { $0.key != $1.key ? $0.key < $1.key : $0.index < $1.index }
        var keys: [AttemptKey] = []
        keys.reserveCapacity(sorted.count)
        for entry in sorted where keys.last != entry.key { keys.append(entry.key) }
        order = sorted.map(\.index)
        self.keys = keys
    }

    /// No id is reported twice in the batch.
    var areDistinct: Bool { keys.count == order.count }

    /// The first report of each key as it is to enter the ledger: with the status that the batch as a whole brings it to.
    func firstReports(of batch: AttemptBatch) -> [AttemptBatch.Record] {
        if areDistinct { return order.map { batch.records[$0] } }
        return forEachGroup(batch) { group in
            var record = batch.records[group[group.startIndex]]
            let (_, stored) = AttemptProgress.fold(nil, group.map { batch.records[$0].known })
            if let stored { record.status = batch.records[group[group.startIndex + stored]].status }
            return record
        }
    }

    func fold(_ batch: AttemptBatch, known: [AttemptKey: LedgerEntry]) -> Outcome {
        var outcome = Outcome(progress: Array(repeating: .duplicate, count: batch.count))
        _ = forEachGroup(batch) { group in
            let first = batch.records[group[group.startIndex]]
            let entry = known[first.key]
            let (results, stored) = AttemptProgress.fold(entry?.known, group.map { batch.records[$0].known })
            for (position, result) in zip(group, results) { outcome.progress[position] = result }
            guard let stored else { return }
            let index = group[group.startIndex + stored]
            if let entry {
                outcome.moves.append(AttemptMove(entry: entry, record: batch.records[index]))
            } else {
                outcome.inserts.append(Insert(index: index, attemptedAt: first.attemptedAt))
            }
        }
        return outcome
    }

    private func forEachGroup<Result>(_ batch: AttemptBatch, _ body: (ArraySlice<Int>) -> Result) -> [Result] {
        var results: [Result] = []
        results.reserveCapacity(keys.count)
        var start = 0
        while start < order.count {
            let key = batch.records[order[start]].key
            var end = start + 1
            while end < order.count, batch.records[order[end]].key == key { end += 1 }
            results.append(body(order[start..<end]))
            start = end
        }
        return results
    }
}

extension AttemptBatch.Record {
    var known: AttemptProgress.Known { AttemptProgress.Known(fingerprint: fingerprint, status: status) }
}
