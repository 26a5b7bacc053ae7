import Synchronization

/// Work that many may ask for at once: it runs once, and all who ask meanwhile get its value.
///
/// Who asks first does it, in their own task. When it throws, as after a cancellation, another one who waits does it again. A cancelled
/// task stops waiting. Safe to share.
package final class SharedWork<Value: Sendable>: Sendable {
    private struct State {
        var isRunning = false
        var waiting: [Int: CheckedContinuation<Value?, any Error>] = [:]
        /// Of the last one that waited; never used again, since a cancellation may come late.
        var lastWaiter = 0
    }

    private let state = Mutex(State())

    package init() {}

    package func value(_ work: () async throws -> Value) async throws -> Value {
        while !begin() {
            if let value = try await valueOfOther() { return value }
        }
        do {
            let value = try await work()
            end(value)
            return value
        } catch {
            end(nil)
            throw error
        }
    }

    /// False when it runs already.
    private func begin() -> Bool {
        state.withLock { state in
            defer { state.isRunning = true }
            return !state.isRunning
        }
    }

    private func end(_ value: Value?) {
        let waiting = state.withLock { state in
            state.isRunning = false
            defer { state.waiting = [:] }
            return state.waiting
        }
        for continuation in waiting.values { continuation.resume(returning: value) }
    }

    /// Nil: there is none.
    private func valueOfOther() async throws -> Value? {
        let waiter = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let answer: Result<Value?, any Error>? = state.withLock { state in
                    // Within the lock, which `onCancel` takes after the task is marked: one of the two sees the other.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    guard state.isRunning else { return .success(nil) }
                    state.waiting[waiter] = continuation
                    return nil
                }
                if let answer { continuation.resume(with: answer) }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: waiter) }?.resume(throwing: CancellationError())
        }
    }
}
