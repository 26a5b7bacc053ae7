/// Requests' batches that met a lock which another transaction holds. One writer at a time tries them, so the others are free for the rest.
///
/// Which requests of a transaction need the lock is not known: it is halved until it is. Those that need none are written after a few
/// tries, the others are tried until their time is over.
struct LockedEntries {
    private struct Group {
        var entries: [IngestQueue.Entry]
        /// Nil for one that goes before those that were tried.
        var retryAt: ContinuousClock.Instant?

        var rows: Int { entries.reduce(0) { $0 + $1.batch.count } }
        var bytes: Int { entries.reduce(0) { $0 + $1.batch.byteCount } }
    }

    /// Between two tries of a request.
    static let pause = Duration.milliseconds(100)

    private var groups: [Group] = []
    private(set) var rows = 0
    private var bytes = 0
    /// A writer tries one of them now.
    var isTaken = false
    /// New ones and those that were tried take turns: however many come, a lock that is free again is found.
    private var wasNew = false

    /// Adds what a transaction consisted of. False where that would be more than half of what may wait otherwise; one is always let in.
    mutating func add(_ entries: [IngestQueue.Entry], limits: IngestLimits, now: ContinuousClock.Instant) -> Bool {
        var group = Group(entries: entries)
        for index in group.entries.indices { group.entries[index].isLocked = true }
        guard groups.isEmpty || (rows + group.rows <= limits.waitingRows / 2 && bytes + group.bytes <= limits.waitingBytes / 2) else {
            return false
        }
        rows += group.rows
        bytes += group.bytes
        switch group.entries.count {
        case 0: break
        case 1:
            group.retryAt = entries[0].isLocked ? now + Self.pause : nil
            groups.append(group)
        case let count:
            groups.append(Group(entries: Array(group.entries[..<(count / 2)])))
            groups.append(Group(entries: Array(group.entries[(count / 2)...])))
        }
        return true
    }

    /// What is to be tried in one transaction.
    ///
    /// - Parameter isLast: nothing else will come, so it does not wait either.
    mutating func take(now: ContinuousClock.Instant, isLast: Bool) -> [IngestQueue.Entry]? {
        guard !isTaken, !groups.isEmpty else { return nil }
        let new = groups.firstIndex { $0.retryAt == nil }
        let due = groups.firstIndex { $0.retryAt.map { isLast || $0 <= now } ?? false }
        guard let index = wasNew ? due ?? new : new ?? due else { return nil }
        wasNew = index == new
        let group = groups.remove(at: index)
        rows -= group.rows
        bytes -= group.bytes
        isTaken = true
        return group.entries
    }

    /// Drops what has been answered, or will be now, as its time is over. Returns how many requests that is.
    mutating func removeLate(now: ContinuousClock.Instant) -> Int {
        guard !groups.isEmpty else { return 0 }
        let count = groups.reduce(0) { $0 + $1.entries.count }
        for index in groups.indices { groups[index].entries.removeAll { $0.answer.end <= now } }
        groups.removeAll { $0.entries.isEmpty }
        rows = groups.reduce(0) { $0 + $1.rows }
        bytes = groups.reduce(0) { $0 + $1.bytes }
        return count - groups.reduce(0) { $0 + $1.entries.count }
    }
}
