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
    }

    private let handle: OpaquePointer?
    private let state = Mutex(State())

    init(handle: OpaquePointer?) { self.handle = handle }

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
            return true
        }
    }

    /// Waits for a cancel request under way, so that it cannot reach the next statement. True when there was one.
    func end(_ ticket: UInt64) -> Bool {
        state.withLock {
            $0.running = nil
            return $0.cancelled.remove(ticket) != nil
        }
    }

    func cancel(_ ticket: UInt64) {
        // PQcancel blocks on the network: off the cooperative pool.
        DispatchQueue.global().async { [self] in
            state.withLock {
                guard $0.running == ticket || $0.queued.contains(ticket) else { return }
                $0.cancelled.insert(ticket)
                guard $0.running == ticket else { return }
                withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
                    _ = PQcancel(handle, buffer.baseAddress, 256)
                }
            }
        }
    }
}
