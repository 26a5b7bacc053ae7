/// Collects items into batches: each batch is what was submitted while the one before was in progress, so batches grow with the load.
///
/// `run` handles the items, not the tasks that submit them: a cancelled task still waits for its answer.
package actor GroupCommit<Item: Sendable, Answer: Sendable> {
    /// By reference: what is left of the arrays is moved for each batch.
    private final class Waiting: Sendable {
        let item: Item
        /// Unchecked, as checking takes an allocation for each item; `run` resumes each once.
        let continuation: UnsafeContinuation<Answer, Never>

        init(_ item: Item, _ continuation: UnsafeContinuation<Answer, Never>) {
            self.item = item
            self.continuation = continuation
        }
    }

    private let limit: Int
    private let handle: @Sendable ([Item]) async -> [Answer]
    private var waiting: [Waiting] = []
    private var critical: [Waiting] = []
    private var idle: CheckedContinuation<Void, Never>?
    private var isOpen = false

    /// - Parameters:
    ///   - limit: items of a batch at most.
    ///   - handle: answers each item of a batch, in order; one batch is under way at a time.
    package init(limit: Int, handle: @escaping @Sendable ([Item]) async -> [Answer]) {
        self.limit = limit
        self.handle = handle
    }

    /// Before `run`, and before anything is submitted.
    package func open() {
        precondition(!isOpen, "one run at a time")
        isOpen = true
    }

    /// Returns when the batch with this item was handled.
    ///
    /// - Parameter isCritical: it goes before those that are not, with up to half of a batch.
    package func submit(_ item: Item, isCritical: Bool = false) async -> Answer {
        guard let answer = await submitIfOpen(item, isCritical: isCritical) else { preconditionFailure("submitted before open()") }
        return answer
    }

    /// The same; nil when it is not open.
    package func submitIfOpen(_ item: Item, isCritical: Bool = false) async -> Answer? {
        guard isOpen else { return nil }
        return await withUnsafeContinuation { (continuation: UnsafeContinuation<Answer, Never>) in
            let entry = Waiting(item, continuation)
            if isCritical { critical.append(entry) } else { waiting.append(entry) }
            wake()
        }
    }

    /// Everything was submitted: `run` ends when it is handled.
    package func close() {
        isOpen = false
        wake()
    }

    /// Handles batches until it is closed.
    package func run() async {
        while true {
            let batch = take()
            guard !batch.isEmpty else {
                guard isOpen else { return }
                await withCheckedContinuation { idle = $0 }
                continue
            }
            let answers = await handle(batch.map { $0.item })
            for (entry, answer) in zip(batch, answers) { entry.continuation.resume(returning: answer) }
        }
    }

    /// Items that wait for a batch.
    package var count: Int { waiting.count + critical.count }

    private func take() -> [Waiting] {
        let first = critical.prefix(max((limit + 1) / 2, limit - waiting.count))
        let rest = waiting.prefix(limit - first.count)
        critical.removeFirst(first.count)
        waiting.removeFirst(rest.count)
        return Array(first) + rest
    }

    private func wake() {
        idle?.resume()
        idle = nil
    }
}
