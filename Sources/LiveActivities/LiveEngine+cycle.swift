import CoreMetrics
import Delivery
import Logging
import Postgres
import PushContract
import Synchronization

extension LiveEngine {
    /// What the 30-second loop does: create, recover, roll over, beat, end, forget.
    func cycle(all: Bool, now: Timestamp) async throws {
        let due = state.withLock { state in
            let due = state.cycledAt.map { now - $0 >= configuration.cycle } ?? true
            if due || all { state.cycledAt = now }
            return due || all
        }
        guard due else { return }
        let subjects = state.withLock { Array($0.subjects.values) }
        let live = subjects.filter(\.isLive).map(\.id)
        let silent = try await stores.orchestrator.silent(live, now: now)
        LiveMetrics.silentFeeds.record(silent.count)
        let over = subjects.filter(\.isOver)
        let unfinished = try await stores.orchestrator.unfinished(over.map(\.id))
        // An instance that gives a subject up sends its other devices nothing more, so the end has to have left.
        let done = state.withLock { state in over.filter { !state.otherDevices.isDue($0, alertTimestamp: 0, now: now) }.map(\.id) }
        let released = try await stores.orchestrator.release(done, now: now)
        state.withLock { state in
            for subject in released { state.subjects[subject] = nil }
            for subject in live { state.portions.create(subject) }
            for subject in subjects where subject.isResting && !subject.isShown(now: now) {
                if state.fanOut.state(of: subject.id) != nil { state.fanOut.forget(subject.id) }
                state.portions.end(subject.id, .day)
            }
            for subject in unfinished { state.portions.end(subject, .over) }
            for (subject, isLost) in silent where isLost { state.portions.end(subject, .silent) }
        }
        try await stores.subjects.sendHeartbeats(owner: configuration.owner, now: now)
        try await resolveLostPushes()
        _ = try await stores.orchestrator.sweep(now: now)
        try await stores.channels.sweep(now: now)
        LiveMetrics.gauge(channels: try await stores.channels.scopes())
        let starts = try await stores.orchestrator.starts(since: now - .seconds(3600))
        LiveMetrics.gauge(adopted: starts.adopted, unanswered: starts.unanswered, medianTimeToToken: starts.medianTimeToToken)
    }

    /// What a dead process had under way, and what this one could not write, becomes attempts of unknown outcome.
    private func resolveLostPushes() async throws {
        try await pipeline.sweepIntents()
        while true {
            let lost = try await stores.intents.resolveLost()
            guard lost > 0 else { return }
            LiveMetrics.unknownOutcomes.increment(by: lost)
            logger.notice("pushes of unknown outcome were recorded as such", metadata: ["count": "\(lost)"])
        }
    }

    /// The next portions of activities that are to be made or ended, for as long as others may wait for this.
    func makeAndEndActivities(now: Timestamp) async throws {
        let end = ContinuousClock.now + LiveEngine.portionTime
        while hasPortions, let step = state.withLock({ $0.portions.next() }) {
            do {
                if let left = try await perform(step, now: now) { state.withLock { $0.portions.add(left) } }
            } catch {
                state.withLock { state in
                    state.portions.add(step)
                    state.portionsPausedUntil = now + LiveEngine.failurePause
                }
                if error is CancellationError || (error as? PostgresError)?.isUnavailable == true { throw error }
                logger.warning("activities cannot be made or ended; trying again", metadata: ["error": "\(error)"])
            }
            guard ContinuousClock.now < end else { return }
        }
    }

    private static let portionTime = Duration.milliseconds(200)

    /// What is left of a step.
    private func perform(_ step: ActivityPortions.Step, now: Timestamp) async throws -> ActivityPortions.Step? {
        switch step {
        case .create(let subjects):
            let (created, left) = try await stores.orchestrator.createMissing(after: subjects, now: now)
            LiveMetrics.created.increment(by: created)
            if created > 0 { logger.info("activities were created", metadata: ["count": "\(created)"]) }
            return left.isEmpty ? nil : .create(left)
        case .end(let subject, let end):
            let isAnyLeft =
                switch end {
                case .over: try await stores.orchestrator.endOver(subject, now: now)
                case .day: try await stores.orchestrator.endDay(subject, now: now)
                case .silent: try await stores.orchestrator.endSilent(subject, now: now)
                }
            return isAnyLeft ? step : nil
        }
    }
}
