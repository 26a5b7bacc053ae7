/// Hands over together what comes at once: each batch is what has gathered while the one before was under way, so batches grow with the load.
///
/// Items are handled by `run`, not by the tasks that bring them: those may be cancelled, and wait for their answer all the same.
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
        precondition(isOpen, "nobody handles what is submitted")
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

    /// Handles what comes, until it is closed.
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
