import Delivery
import PushContract
import ServiceKit
import Synchronization

extension LiveEngine {
    /// Puts into the send queue what is due to devices that show no Live Activities. Instances with the role `send` send it.
    func sendToOtherDevices(now: Timestamp) async throws {
        guard hasLeases else { return }
        let due = state.withLock { state in
            state.otherDevices.keepOnly(state.subjects.keys)
            return state.subjects.values.filter { subject in
                let alert = state.fanOut.state(of: subject.id)?.alerts.last?.timestamp ?? 0
                return state.otherDevices.isDue(subject, alertTimestamp: alert, now: now)
            }
        }
        for subject in due { try await sendToOtherDevices(of: subject, newcomersSince: nil, now: now) }
        guard let since = state.withLock({ $0.otherDevices.newcomersSince(now: now) }) else { return }
        let followed = try await stores.otherDevices.followed(since: since)
        let subjects = state.withLock { state in followed.compactMap { state.subjects[$0] }.filter(\.isLive) }
        for subject in subjects { try await sendToOtherDevices(of: subject, newcomersSince: since, now: now) }
    }

    private func sendToOtherDevices(of subject: LiveSubject, newcomersSince since: Timestamp?, now: Timestamp) async throws {
        let result = try await stores.otherDevices.send(
            subject.id,
            owner: configuration.owner,
            newcomersSince: since,
            check: check,
            now: now
        )
        guard let result else { return }
        state.withLock { $0.otherDevices.record(subject, result.progress, now: now) }
        if result.deliveries > 0 { queueWake.signal() }
    }
}
