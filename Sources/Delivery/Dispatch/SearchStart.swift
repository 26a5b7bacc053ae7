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
/// Of the positions that are settled (`VisiblePositions`), what is gone before the first that is visible stays gone. A delivery whose claim
/// is not committed is visible, so it is searched for again.
struct SearchStart {
    /// By queue.
    private(set) var starts: [Int32: Int64] = [:]
    private var positions = VisiblePositions()

    mutating func beginSweep(at position: QueuePosition) { positions.note(position.lastReady, writers: position.writers) }

    /// - Parameters:
    ///   - cursors: where the search of each queue began, after the sweep had; 0 where none is given.
    ///   - found: the first position of each queue that is visible.
    mutating func searched(from cursors: [Int32: Int64], found: [(queue: Int32, first: Int64?)]) {
        for (queue, first) in found {
            let start = starts[queue] ?? 0
            guard cursors[queue] ?? 0 <= start else { continue }
            starts[queue] = max(start, min(first ?? .max, positions.last + 1))
        }
    }
}
