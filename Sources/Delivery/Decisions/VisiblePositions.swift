/// Up to where positions in a table are settled: what has one is visible, or never will be.
///
/// A transaction is given a position after it has locked the table. So once every transaction that had it locked after a position was given
/// has ended, all that have this position or an earlier one are settled.
struct VisiblePositions {
    /// A position, and the transactions that may still commit it or an earlier one.
    private(set) var open: (position: Int64, writers: Set<String>)?
    /// What has this position, or an earlier one, is settled.
    private(set) var last: Int64 = 0

    /// - Parameters:
    ///   - position: one that was given before `writers` were read.
    ///   - writers: the transactions that had the table locked then, after `open` was noted.
    /// - Returns: whether `open` has changed.
    @discardableResult
    mutating func note(_ position: Int64, writers: Set<String>) -> Bool {
        let isSettled = open.map { $0.writers.isDisjoint(with: writers) } ?? true
        if isSettled {
            last = max(last, open?.position ?? 0)
            open = (position, writers)
        }
        if writers.isEmpty { last = max(last, position) }
        return isSettled
    }
}
