import Synchronization

/// Collects items into batches: each batch is what was submitted while the one before was in progress, so batches grow with the load.
///
/// `run` handles the items, not the tasks that submit them: a task that is cancelled still waits for its answer. Safe to use from any task;
/// no actor, as a task would have to be scheduled once more for each item.
final class GroupCommit<Item: Sendable, Answer: Sendable>: Sendable {
    /// By reference: what is left of the arrays is moved for each batch.
    private final class Waiting: Sendable {
        let item: Item
        let answered: @Sendable (Answer) -> Void

        init(_ item: Item, _ answered: @escaping @Sendable (Answer) -> Void) {
            self.item = item
            self.answered = answered
        }
    }

    private struct State {
        var waiting: [Waiting] = []
        var critical: [Waiting] = []
        var idle: UnsafeContinuation<Void, Never>?
        var isOpen = false

        mutating func take(_ limit: Int) -> [Waiting] {
            let first = critical.prefix(max((limit + 1) / 2, limit - waiting.count))
            let rest = waiting.prefix(limit - first.count)
            critical.removeFirst(first.count)
            waiting.removeFirst(rest.count)
            return Array(first) + rest
        }

        /// To be resumed when the lock is free.
        mutating func takeIdle() -> UnsafeContinuation<Void, Never>? {
            defer { idle = nil }
            return idle
        }
    }

    private let limit: Int
    private let interval: Duration
    private let handle: @Sendable ([Item]) async -> [Answer]
    private let state = Mutex(State())

    /// - Parameters:
    ///   - limit: items of a batch at most.
    ///   - interval: after a batch of 16 items or more the next one begins so much later than it began, as `pause` says. The fewer
    ///     batches, the less each item costs.
    ///   - handle: answers each item of a batch, in order; one batch is under way at a time.
    init(limit: Int, interval: Duration = .zero, handle: @escaping @Sendable ([Item]) async -> [Answer]) {
        self.limit = limit
        self.interval = interval
        self.handle = handle
    }

    /// Before `run`, and before anything is submitted.
    func open() {
        state.withLock { state in
            precondition(!state.isOpen, "one run at a time")
            state.isOpen = true
        }
    }

    /// Returns at once.
    ///
    /// - Parameters:
    ///   - isCritical: it goes before those that are not, with up to half of a batch.
    ///   - answered: called by `run`, in the order of a batch.
    func submit(_ item: Item, isCritical: Bool = false, answered: @escaping @Sendable (Answer) -> Void) {
        guard submitIfOpen(item, isCritical: isCritical, answered) else { preconditionFailure("submitted before open()") }
    }

    /// Returns when the batch with this item was handled.
    func submit(_ item: Item, isCritical: Bool = false) async -> Answer {
        // Unchecked, as checking takes an allocation for each item; `run` answers each once.
        await withUnsafeContinuation { continuation in
            submit(item, isCritical: isCritical) { continuation.resume(returning: $0) }
        }
    }

    /// The same; nil when it is not open.
    func submitIfOpen(_ item: Item, isCritical: Bool = false) async -> Answer? {
        await withUnsafeContinuation { (continuation: UnsafeContinuation<Answer?, Never>) in
            if !submitIfOpen(item, isCritical: isCritical, { continuation.resume(returning: $0) }) { continuation.resume(returning: nil) }
        }
    }

    private func submitIfOpen(_ item: Item, isCritical: Bool, _ answered: @escaping @Sendable (Answer) -> Void) -> Bool {
        let entry = Waiting(item, answered)
        let (isOpen, idle) = state.withLock { state in
            guard state.isOpen else { return (false, nil as UnsafeContinuation<Void, Never>?) }
            if isCritical { state.critical.append(entry) } else { state.waiting.append(entry) }
            return (true, state.takeIdle())
        }
        idle?.resume()
        return isOpen
    }

    /// Everything was submitted: `run` ends when it is handled.
    func close() {
        let idle = state.withLock { state in
            state.isOpen = false
            return state.takeIdle()
        }
        idle?.resume()
    }

    /// Handles batches until it is closed.
    func run() async {
        while true {
            // Who is about to submit does so first: the fewer batches, the less each item costs.
            await Task.yield()
            let (batch, isOpen) = state.withLock { ($0.take(limit), $0.isOpen) }
            guard !batch.isEmpty else {
                guard isOpen else { return }
                await waitForItems()
                continue
            }
            let start = ContinuousClock.now
            let answers = await handle(batch.map { $0.item })
            for index in batch.indices { batch[index].answered(answers[index]) }
            if isOpen {
                let pause = Self.pause(after: batch.count, limit: limit, interval: interval)
                if pause > .zero { try? await Task.sleep(until: start + pause, clock: .continuous) }
            }
        }
    }

    /// How much later than a batch of so many items the next one begins: by `interval`, and by up to 2.5 times as much the larger the batch
    /// was. More than 40 in an interval is load at which each item's cost matters more than when it is handled.
    static func pause(after count: Int, limit: Int, interval: Duration) -> Duration {
        // After a full one more may be waiting than the next can take.
        guard count >= 16, count < limit else { return .zero }
        return interval * (Double(min(max(count, 40), 100)) / 40)
    }

    private func waitForItems() async {
        await withUnsafeContinuation { continuation in
            let isReady = state.withLock { state in
                if state.isOpen && state.waiting.isEmpty && state.critical.isEmpty {
                    state.idle = continuation
                    return false
                }
                return true
            }
            if isReady { continuation.resume() }
        }
    }

    /// Items that wait for a batch.
    var count: Int { state.withLock { $0.waiting.count + $0.critical.count } }
}
