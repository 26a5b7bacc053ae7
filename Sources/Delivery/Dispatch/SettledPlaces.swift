import PushContract

/// Where the queues are, as far as a sweep can see.
struct QueuePosition {
    /// By the database's clock.
    var now: Timestamp
    /// The last place in a queue that was given.
    var lastReady: Int64
    /// The transactions that may have written to the queues and were under way after that.
    var writers: Set<String>
}

/// Up to which place nothing of a queue is ready, nor can become so, so that nobody has to search there again.
///
/// A place is given within a transaction that has locked the table. Once every transaction that was under way after a place was given has
/// ended, what has it or an earlier one is visible or never will be; and what is gone before the first place that is visible stays gone. A
/// delivery whose claim is not committed is visible, so it is searched for again.
struct SettledPlaces {
    /// By queue: where its next search begins, if it is to find everything.
    private(set) var searched: [Int32: Int64] = [:]
    /// A place, and the transactions that may still write to it or before.
    private var open: (place: Int64, writers: Set<String>)?
    /// What has this place, or an earlier one, is visible or never will be.
    private var visible: Int64 = 0

    mutating func beginSweep(at position: QueuePosition) {
        if open.map({ $0.writers.isDisjoint(with: position.writers) }) ?? true {
            visible = max(visible, open?.place ?? 0)
            open = (position.lastReady, position.writers)
        }
        if position.writers.isEmpty { visible = position.lastReady }
    }

    /// - Parameters:
    ///   - cursors: where the search of each queue began, which came after the position was taken; 0 where none is given.
    ///   - found: the first place of each queue that is visible.
    mutating func searched(from cursors: [Int32: Int64], found: [(queue: Int32, first: Int64?)]) {
        for (queue, first) in found {
            let settled = searched[queue] ?? 0
            guard cursors[queue] ?? 0 <= settled else { continue }
            searched[queue] = max(settled, min(first ?? .max, visible + 1))
        }
    }
}
