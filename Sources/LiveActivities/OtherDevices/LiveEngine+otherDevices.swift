import Delivery
import Logging
import PushContract
import ServiceKit
import Synchronization

extension LiveEngine {
    /// What has to be put into the send queue for devices that show no Live Activities; instances with the role `send` send it. Jobs, since
    /// the deliveries of many followers take longer to store than updates of Live Activities may wait.
    func otherDevicesJobs(now: Timestamp) async -> [Job] {
        guard hasLeases, state.withLock({ $0.otherDevices.freeJobs > 0 }) else { return [] }
        let newcomers = await newcomers(now: now)
        return state.withLock { state in
            state.otherDevices.keepOnly(state.subjects.keys)
            let due = state.subjects.values.map { (subject: $0, alert: state.fanOut.state(of: $0.id)?.alerts.last?.timestamp ?? 0) }
                .filter { state.otherDevices.isDue($0.subject, alertTimestamp: $0.alert, now: now) }
                .sorted { $0.alert > $1.alert }
            var looks = due.map { OtherDevicesLook(subject: $0.subject) }
            if let newcomers {
                looks += newcomers.subjects.compactMap { state.subjects[$0] }.filter(\.isLive).map {
                    OtherDevicesLook(subject: $0, newcomersSince: newcomers.since)
                }
            }
            return state.otherDevices.begin(looks).map(Job.otherDevices)
        }
    }

    /// Subjects with new followers or devices. Nil: it is not time to look, or it failed.
    private func newcomers(now: Timestamp) async -> (subjects: [String], since: Timestamp)? {
        guard let since = state.withLock({ $0.otherDevices.newcomersSince(now: now) }) else { return nil }
        do {
            return (try await stores.otherDevices.withNewcomers(since: since), since)
        } catch {
            logger.log(
                level: .warning.unlessOutage(error),
                "new followers and devices cannot be read; trying again",
                metadata: ["error": "\(error)"]
            )
            return nil
        }
    }

    func sendToOtherDevices(_ looks: [OtherDevicesLook]) async {
        defer { state.withLock { $0.otherDevices.finish(looks) } }
        for look in looks where hasLeases {
            let now = now()
            do {
                let result = try await stores.otherDevices.send(
                    look.subject.id,
                    owner: configuration.owner,
                    newcomersSince: look.newcomersSince,
                    check: check,
                    now: now
                )
                guard let result else { continue }
                state.withLock { $0.otherDevices.record(look.subject, result.progress, now: now) }
                if result.deliveries > 0 { queueWake.signal() }
            } catch {
                // Nothing was stored; the next turn tries again.
                logger.warning(
                    "pushes to devices without Live Activities cannot be queued; trying again",
                    metadata: ["subject": "\(look.subject.id)", "error": "\(error)"]
                )
            }
        }
    }
}
