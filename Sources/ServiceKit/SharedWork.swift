import Synchronization

/// Work that many may ask for at once: it runs once, and all who ask meanwhile get its value.
///
/// Who asks first does it, in their own task. When it throws, as after a cancellation, another one who waits does it again. Safe to share.
package final class SharedWork<Value: Sendable>: Sendable {
    private struct State {
        var isRunning = false
        var waiting: [CheckedContinuation<Value?, Never>] = []
    }

    private let state = Mutex(State())

    package init() {}

    package func value(_ work: () async throws -> Value) async throws -> Value {
        while !begin() {
            if let value = await valueOfOther() { return value }
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
            defer { state = State() }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(returning: value) }
    }

    /// Nil: there is none.
    private func valueOfOther() async -> Value? {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.isRunning { state.waiting.append(continuation) }
                return !state.isRunning
            }
            if isOver { continuation.resume(returning: nil) }
        }
    }
}
