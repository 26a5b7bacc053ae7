import Synchronization

/// Work that many may ask for at once: it runs once, and all who ask meanwhile, or shortly afterwards, get its value.
///
/// Who asks first does it, in their own task. When it throws, as after a cancellation, another one who waits does it again. Safe to share.
package final class SharedWork<Value: Sendable>: Sendable {
    private struct State {
        var latest: (value: Value, at: ContinuousClock.Instant)?
        var isRunning = false
        var waiting: [CheckedContinuation<Value?, Never>] = []
    }

    private enum Turn {
        case known(Value)
        case own
        case wait
    }

    private let freshFor: Duration
    private let state = Mutex(State())

    /// - Parameter freshFor: how long a value is good for.
    package init(freshFor: Duration = .zero) { self.freshFor = freshFor }

    package func value(_ work: () async throws -> Value) async throws -> Value {
        while true {
            switch turn() {
            case .known(let value): return value
            case .own: return try await run(work)
            case .wait: if let value = await valueOfOther() { return value }
            }
        }
    }

    private func turn() -> Turn {
        state.withLock { state in
            if let (value, at) = state.latest, ContinuousClock.now - at < freshFor { return .known(value) }
            if state.isRunning { return .wait }
            state.isRunning = true
            return .own
        }
    }

    private func run(_ work: () async throws -> Value) async throws -> Value {
        do {
            let value = try await work()
            settle(value)
            return value
        } catch {
            settle(nil)
            throw error
        }
    }

    private func settle(_ value: Value?) {
        let waiting = state.withLock { state in
            if let value { state.latest = (value, .now) }
            state.isRunning = false
            defer { state.waiting = [] }
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
