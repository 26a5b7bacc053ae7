/// Collects items into batches: each batch is what was submitted while the one before was in progress, so batches grow with the load.
///
/// `run` handles the items, not the tasks that submit them: a cancelled task still waits for its answer.
package actor GroupCommit<Item: Sendable, Answer: Sendable> {
    private struct Waiting {
        var item: Item
        var continuation: CheckedContinuation<Answer, Never>
    }

    private let limit: Int
    private let handle: @Sendable ([Item]) async -> [Answer]
    private var waiting: [Waiting] = []
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
    package func submit(_ item: Item) async -> Answer {
        precondition(isOpen, "submitted before open()")
        return await withCheckedContinuation { continuation in
            waiting.append(Waiting(item: item, continuation: continuation))
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
        while isOpen || !waiting.isEmpty {
            guard !waiting.isEmpty else {
                await withCheckedContinuation { idle = $0 }
                continue
            }
            let batch = Array(waiting.prefix(limit))
            waiting.removeFirst(batch.count)
            let answers = await handle(batch.map(\.item))
            for (entry, answer) in zip(batch, answers) { entry.continuation.resume(returning: answer) }
        }
    }

    private func wake() {
        idle?.resume()
        idle = nil
    }
}
