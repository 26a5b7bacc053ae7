import Delivery
import PushContract
import ServiceKit
import Synchronization

extension LiveEngine {
    /// Puts starts that are due into the send queue, as many as the rate allows. Instances with the role `send` send them.
    func enqueueStarts(now: Timestamp) async throws {
        guard hasLeases else { return }
        for subject in state.withLock({ Array($0.subjects.values) }) where subject.isLive {
            let limit = state.withLock { $0.rate.take(LiveEngine.startsAtOnce, now: now) }
            guard limit > 0 else { break }
            let count = try await stores.starts.enqueue(subject, limit: limit, now: now)
            state.withLock { $0.rate.refund(limit - count) }
            if count > 0 { queueWake.signal() }
        }
    }

    private static let startsAtOnce = 1000
}
