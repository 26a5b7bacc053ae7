import CLibPQ
import Dispatch
import Synchronization

/// Cancels exactly the statement of a cancelled task, never its successor on the same connection.
///
/// `@unchecked Sendable`: libpq documents `PQcancel` as safe from any thread; the handle never changes.
final class StatementCanceller: @unchecked Sendable {
    private struct State {
        var issued: UInt64 = 0
        /// Issued and not begun.
        var queued: Set<UInt64> = []
        var running: UInt64?
        /// Of the queued and the running ones.
        var cancelled: Set<UInt64> = []
        /// A cancel request under way.
        var request: DispatchGroup?
    }

    private let handle: OpaquePointer?
    private let interruption: CallInterruption
    private let state = Mutex(State())
    /// PQcancel blocks on the network: off the cooperative pool, and off the threads that others share.
    private let queue = DispatchQueue(label: "pushwatch.postgres.cancel")

    init(handle: OpaquePointer?, interruption: CallInterruption) {
        self.handle = handle
        self.interruption = interruption
    }

    deinit { PQfreeCancel(handle) }

    func newTicket() -> UInt64 {
        state.withLock {
            $0.issued += 1
            $0.queued.insert($0.issued)
            return $0.issued
        }
    }

    /// False when the task was cancelled while it queued.
    func begin(_ ticket: UInt64) -> Bool {
        state.withLock {
            $0.queued.remove(ticket)
            if $0.cancelled.remove(ticket) != nil { return false }
            $0.running = ticket
            interruption.reset()
            return true
        }
    }

    /// Ends a ticket: whether its task was cancelled, and whether the connection may be used again. It may not while a cancel request is
    /// under way, since that could reach the next statement; the request is waited for, but not for a server that hangs.
    func end(_ ticket: UInt64) -> (wasCancelled: Bool, isUsable: Bool) {
        let (wasCancelled, request) = state.withLock {
            $0.running = nil
            interruption.reset()
            return ($0.cancelled.remove(ticket) != nil, $0.request)
        }
        return (wasCancelled, request.map { $0.wait(timeout: .now() + 1) == .success } ?? true)
    }

    /// What queues is cancelled when this returns.
    func cancel(_ ticket: UInt64) {
        let request: DispatchGroup? = state.withLock {
            guard $0.running == ticket || $0.queued.contains(ticket) else { return nil }
            $0.cancelled.insert(ticket)
            guard $0.running == ticket else { return nil }
            interruption.cancelled()
            let request = DispatchGroup()
            request.enter()
            $0.request = request
            return request
        }
        guard let request else { return }
        queue.async { [self] in
            withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
                _ = PQcancel(handle, buffer.baseAddress, 256)
            }
            state.withLock { $0.request = nil }
            request.leave()
        }
    }
}
