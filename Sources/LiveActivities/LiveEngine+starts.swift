import Delivery
import PushContract
import ServiceKit
import Synchronization

extension LiveEngine {
    /// Puts starts that are due into the send queue, as many as the rate allows. Instances with the role `send` send them. The subjects
    /// share what there is, and what one does not need goes to the others: a large following does not delay the starts of another subject.
    func enqueueStarts(now: Timestamp) async throws {
        guard hasLeases else { return }
        let live = state.withLock { $0.subjects.filter(\.value.isLive) }
        let due = try await stores.starts.due(Array(live.keys), now: now)
        var (left, waiting) = state.withLock { state in
            (due.isEmpty ? 0 : state.rate.take(LiveEngine.startsAtOnce, now: now), state.shares.order(due).compactMap { live[$0] })
        }
        defer { state.withLock { $0.rate.refund(left) } }
        while left > 0, !waiting.isEmpty {
            var rest: [LiveSubject] = []
            for (index, subject) in waiting.enumerated() where left > 0 {
                let share = StartShares.share(of: left, among: waiting.count - index)
                try await withBackOff(of: subject.id, now: now) {
                    let count = try await stores.starts.enqueue(subject, limit: share, now: now)
                    state.withLock { $0.shares.grant(subject.id, now: now) }
                    left -= count
                    if count > 0 { queueWake.signal() }
                    if count == share { rest.append(subject) }
                }
            }
            waiting = rest
        }
    }

    private static let startsAtOnce = 1000
}
