import CLibPQ
import Dispatch
import Synchronization

/// Cancels exactly the statement of a cancelled task, never its successor on the same connection.
///
/// `@unchecked Sendable`: libpq documents `PQcancel` as safe from any thread; the handle never changes.
final class StatementCanceller: @unchecked Sendable {
    private struct State {
        var issued: UInt64 = 0
        var running: UInt64?
        var finished: UInt64 = 0
        var cancelledBeforeStart: Set<UInt64> = []
    }

    private let handle: OpaquePointer?
    private let state = Mutex(State())

    init(handle: OpaquePointer?) { self.handle = handle }

    deinit { PQfreeCancel(handle) }

    func newTicket() -> UInt64 {
        state.withLock {
            $0.issued += 1
            return $0.issued
        }
    }

    /// False when the task was cancelled while it queued.
    func begin(_ ticket: UInt64) -> Bool {
        state.withLock {
            if $0.cancelledBeforeStart.remove(ticket) != nil {
                $0.finished = ticket
                return false
            }
            $0.running = ticket
            return true
        }
    }

    /// Waits for a cancel request under way, so that it cannot reach the next statement.
    func end(_ ticket: UInt64) {
        state.withLock {
            $0.running = nil
            $0.finished = ticket
        }
    }

    func cancel(_ ticket: UInt64) {
        // PQcancel blocks on the network: off the cooperative pool.
        DispatchQueue.global().async { [self] in
            state.withLock {
                guard $0.running == ticket else {
                    if ticket > $0.finished { $0.cancelledBeforeStart.insert(ticket) }
                    return
                }
                withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
                    _ = PQcancel(handle, buffer.baseAddress, 256)
                }
            }
        }
    }
}
