import PushContract
import ServiceKit
import Testing

@testable import Delivery

@Suite("Searches that find everything begin behind what is gone for good, and never behind what can become ready")
struct SearchStartTests {
    /// Two queues, and transactions that give positions, remove what they see, and end one way or the other, at any time.
    private struct Database {
        struct Row {
            var position: Int64
            var queue: Int32
            var insertedBy: Int
            var deletedBy: Int?
        }

        var rows: [Row] = []
        var lastReady: Int64 = 0
        /// Those that have locked the table.
        var running: Set<Int> = []
        var aborted: Set<Int> = []
        private var lastTransaction = 0

        func isVisible(_ row: Row) -> Bool {
            !running.contains(row.insertedBy) && !aborted.contains(row.insertedBy)
                && row.deletedBy.map { running.contains($0) || aborted.contains($0) } ?? true
        }

        var writers: Set<String> { Set(running.map { "3/\($0)" }) }

        func first(_ queue: Int32, from cursor: Int64) -> Int64? {
            rows.filter { $0.queue == queue && $0.position >= cursor && isVisible($0) }.map(\.position).min()
        }

        mutating func step(_ random: inout some RandomNumberGenerator) {
            let transaction = running.sorted().randomElement(using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0, 1:
                lastTransaction += 1
                running.insert(lastTransaction)
            case 2, 3, 4:
                guard let transaction else { return }
                lastReady += 1
                rows.append(Row(position: lastReady, queue: Int32.random(in: 1...2, using: &random), insertedBy: transaction))
            case 5, 6:
                // Rows that another running transaction removes are locked.
                let free = rows.indices.filter { isVisible(rows[$0]) && !(rows[$0].deletedBy.map(running.contains) ?? false) }
                guard let transaction, let index = free.first else { return }
                rows[index].deletedBy = transaction
            default:
                guard let transaction else { return }
                running.remove(transaction)
                if Bool.random(using: &random) { aborted.insert(transaction) }
            }
        }
    }

    @Test("a search starts behind rows that are gone only, whatever transactions do between the steps of a sweep", arguments: 1...40)
    func histories(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var database = Database()
        var searchStart = SearchStart()
        var advances = 0
        for sweep in 1...150 {
            let lastReady = database.lastReady
            for _ in 0..<Int.random(in: 0...3, using: &random) { database.step(&random) }
            let now = Timestamp(seconds: Int64(sweep))
            searchStart.beginSweep(at: QueuePosition(now: now, lastReady: lastReady, writers: database.writers))
            for _ in 0..<Int.random(in: 0...5, using: &random) { database.step(&random) }
            let before = searchStart.starts
            // Some begin further on, and find less.
            let cursors = Bool.random(using: &random) ? before : before.mapValues { $0 + 5 }
            searchStart.searched(from: cursors, found: [1, 2].map { ($0, database.first($0, from: cursors[$0] ?? 0)) })
            if searchStart.starts != before { advances += 1 }
            for _ in 0..<Int.random(in: 0...20, using: &random) { database.step(&random) }
            for row in database.rows where row.position < searchStart.starts[row.queue] ?? 0 {
                let isGone = !database.isVisible(row) && !database.running.contains(row.insertedBy)
                #expect(isGone, "position \(row.position) of queue \(row.queue), seed \(seed), sweep \(sweep)")
            }
        }
        #expect(advances > 10, "seed \(seed)")
    }

    @Test("with nobody else writing, one search is enough")
    func alone() {
        var searchStart = SearchStart()
        searchStart.beginSweep(at: QueuePosition(now: Timestamp(seconds: 0), lastReady: 18_000_000, writers: []))
        searchStart.searched(from: [:], found: [(1, nil), (2, 17_000_000)])
        #expect(searchStart.starts == [1: 18_000_001, 2: 17_000_000])
    }
}
