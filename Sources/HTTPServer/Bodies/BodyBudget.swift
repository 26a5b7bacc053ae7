import Synchronization

/// How many bytes of request bodies are in memory at once, over all requests: as they arrive, and as they are inflated.
///
/// Many senders with large bodies, slow ones above all, thus cannot fill the memory. Nor can they keep small bodies out, which nearly all
/// are: a part of the budget is for those alone. Safe to use from any task.
package final class BodyBudget: Sendable {
    /// The process's own; every reader draws on it unless it is given another.
    package static let process = BodyBudget(bytes: 64 << 20)

    /// A body with more bytes may not take the part that is kept for the others.
    static let small = 64 << 10

    private let limit: Int
    private let used = Mutex(0)

    package init(bytes: Int) { limit = bytes }

    var usedBytes: Int { used.withLock { $0 } }

    /// Whether a body of that length would fit now; asked before it is read, and no promise.
    func hasSpace(for bytes: Int) -> Bool { used.withLock { $0 + bytes <= limit(of: bytes) } }

    /// An eighth is for small ones.
    private func limit(of body: Int) -> Int { body > BodyBudget.small ? limit - limit / 8 : limit }

    /// - Parameter taken: what the same body has taken before.
    fileprivate func take(_ bytes: Int, taken: Int) -> Bool {
        used.withLock { used in
            guard used + bytes <= limit(of: taken + bytes) else { return false }
            used += bytes
            return true
        }
    }

    fileprivate func give(_ bytes: Int) { used.withLock { $0 -= bytes } }
}

/// One request's part of the budget, given back when it is deallocated.
///
/// `@unchecked Sendable`: used by one task at a time.
final class BodyReservation: @unchecked Sendable {
    private let budget: BodyBudget
    private var bytes = 0

    init(of budget: BodyBudget) { self.budget = budget }

    deinit { if bytes > 0 { budget.give(bytes) } }

    /// Takes more; false when the budget is used up.
    func take(_ more: Int) -> Bool {
        guard budget.take(more, taken: bytes) else { return false }
        bytes += more
        return true
    }
}
