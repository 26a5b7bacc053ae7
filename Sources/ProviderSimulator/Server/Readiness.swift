import Synchronization

/// A value that arrives once and that any number of callers may wait for. Safe from any thread.
final class Readiness<Value: Sendable>: Sendable {
    private enum State {
        case waiting([Int: CheckedContinuation<Value, any Error>], next: Int)
        case done(Result<Value, any Error>)
    }

    private let state = Mutex(State.waiting([:], next: 0))

    /// Settles it; later calls change nothing.
    func settle(_ result: Result<Value, any Error>) {
        let waiting = state.withLock { state -> [CheckedContinuation<Value, any Error>] in
            guard case .waiting(let continuations, _) = state else { return [] }
            state = .done(result)
            return Array(continuations.values)
        }
        for continuation in waiting { continuation.resume(with: result) }
    }

    /// The value, now or when it arrives.
    /// - Throws: what it was settled with, or `CancellationError`.
    func value() async throws -> Value {
        let ticket = state.withLock { state -> Int in
            guard case .waiting(let continuations, let next) = state else { return 0 }
            state = .waiting(continuations, next: next + 1)
            return next
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { wait($0, ticket: ticket) }
        } onCancel: {
            abandon(ticket)
        }
    }

    private func wait(_ continuation: CheckedContinuation<Value, any Error>, ticket: Int) {
        let settled = state.withLock { state -> Result<Value, any Error>? in
            switch state {
            case .done(let result):
                return result
            case .waiting(var continuations, let next):
                // Cancelled before it began to wait: the handler has run already and found no waiter.
                if Task.isCancelled { return .failure(CancellationError()) }
                continuations[ticket] = continuation
                state = .waiting(continuations, next: next)
                return nil
            }
        }
        if let settled { continuation.resume(with: settled) }
    }

    private func abandon(_ ticket: Int) {
        let continuation = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            guard case .waiting(var continuations, let next) = state else { return nil }
            let found = continuations.removeValue(forKey: ticket)
            state = .waiting(continuations, next: next)
            return found
        }
        continuation?.resume(throwing: CancellationError())
    }
}
