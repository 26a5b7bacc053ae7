import PushContract

/// Where the queues are, as far as a sweep can see.
struct QueuePosition {
    /// By the database's clock.
    var now: Timestamp
    /// The last position in a queue that was given.
    var lastReady: Int64
    /// The transactions that may have written to the queues and were under way after that.
    var writers: Set<String>
}

/// Where a search of each queue begins that is to find everything: nothing before it is ready, nor can become so.
///
/// A position is given within a transaction that has locked the table. Once every transaction that was under way after it was given has ended,
/// what has it or an earlier one is visible or never will be; and what is gone before the first that is visible stays gone. A delivery whose
/// claim is not committed is visible, so it is searched for again.
struct SearchStart {
    /// By queue.
    private(set) var starts: [Int32: Int64] = [:]
    /// A position, and the transactions that may still write to it or before.
    private var open: (position: Int64, writers: Set<String>)?
    /// What has this position, or an earlier one, is visible or never will be.
    private var visible: Int64 = 0

    mutating func beginSweep(at position: QueuePosition) {
        if open.map({ $0.writers.isDisjoint(with: position.writers) }) ?? true {
            visible = max(visible, open?.position ?? 0)
            open = (position.lastReady, position.writers)
        }
        if position.writers.isEmpty { visible = position.lastReady }
    }

    /// - Parameters:
    ///   - cursors: where the search of each queue began, after the sweep had; 0 where none is given.
    ///   - found: the first position of each queue that is visible.
    mutating func searched(from cursors: [Int32: Int64], found: [(queue: Int32, first: Int64?)]) {
        for (queue, first) in found {
            let start = starts[queue] ?? 0
            guard cursors[queue] ?? 0 <= start else { continue }
            starts[queue] = max(start, min(first ?? .max, visible + 1))
        }
    }
}
