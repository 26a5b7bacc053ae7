import Synchronization

/// What waits to be written: requests' batches, bounded in rows and bytes, handed to writers as one batch per transaction.
///
/// Safe to use from any task: one lock around plain state.
final class IngestQueue: Sendable {
    /// One request's batch and who waits for its answer.
    struct Entry: Sendable {
        var batch: AttemptBatch
        var answer: CheckedContinuation<[AttemptResult], any Error>
    }

    private struct State {
        var waiting: [Entry] = []
        var rows = 0
        var bytes = 0
        var idleWriters: [CheckedContinuation<[Entry], Never>] = []
        var isClosed = false
    }

    private let limits: IngestLimits
    private let state = Mutex(State())

    init(limits: IngestLimits) { self.limits = limits }

    var waitingRows: Int { state.withLock { $0.rows } }

    /// Whether a request with that much body would be refused now: asked before the body is read. Nil: the length is not known.
    func refusal(bodyBytes: Int?) -> IngestRefusal? {
        state.withLock { state in
            if state.isClosed { return .shuttingDown }
            if state.waiting.isEmpty { return nil }
            return state.rows >= limits.waitingRows || state.bytes + (bodyBytes ?? 0) > limits.waitingBytes ? .full : nil
        }
    }

    /// Puts a batch in; its answer comes after the commit.
    func submit(_ batch: AttemptBatch) async throws -> [AttemptResult] {
        try await withCheckedThrowingContinuation { continuation in
            let entry = Entry(batch: batch, answer: continuation)
            let refusal: IngestRefusal? = state.withLock { state in
                if state.isClosed { return .shuttingDown }
                // A request larger than the whole buffer is let in when nothing else waits.
                guard
                    state.waiting.isEmpty
                        || (state.rows + batch.count <= limits.waitingRows && state.bytes + batch.byteCount <= limits.waitingBytes)
                else { return .full }
                if let writer = state.idleWriters.popLast() {
                    writer.resume(returning: [entry])
                    return nil
                }
                state.waiting.append(entry)
                state.rows += batch.count
                state.bytes += batch.byteCount
                return nil
            }
            if let refusal { continuation.resume(throwing: refusal) }
        }
    }

    /// The next transaction's entries; empty once the queue is closed and drained.
    func take() async -> [Entry] {
        await withCheckedContinuation { continuation in
            let entries: [Entry]? = state.withLock { state in
                if state.waiting.isEmpty {
                    if state.isClosed { return [] }
                    state.idleWriters.append(continuation)
                    return nil
                }
                return takeSome(&state)
            }
            if let entries { continuation.resume(returning: entries) }
        }
    }

    private func takeSome(_ state: inout State) -> [Entry] {
        var rows = 0
        var count = 0
        for entry in state.waiting {
            if count > 0, rows + entry.batch.count > limits.rowsPerTransaction { break }
            rows += entry.batch.count
            count += 1
        }
        let taken = Array(state.waiting[..<count])
        state.waiting.removeFirst(count)
        state.rows -= rows
        state.bytes -= taken.reduce(0) { $0 + $1.batch.byteCount }
        return taken
    }

    /// Refuses new batches; writers drain what waits.
    func close() {
        let writers = state.withLock { state in
            state.isClosed = true
            defer { state.idleWriters = [] }
            return state.idleWriters
        }
        for writer in writers { writer.resume(returning: []) }
    }
}

/// How much may wait to be written.
package struct IngestLimits: Sendable {
    /// Rows and bytes that may wait; beyond them a request is refused (503). One request is always let in when nothing else waits.
    package var waitingRows = 50_000
    package var waitingBytes = 64 << 20
    /// Rows of one transaction; a request is never split.
    package var rowsPerTransaction = 5_000

    package init() {}
}

/// Why a batch was not even queued. Nothing of it was stored.
package enum IngestRefusal: Error, Sendable {
    case full
    case shuttingDown
}
