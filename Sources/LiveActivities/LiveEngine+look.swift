import CoreMetrics
import Delivery
import Logging
import Postgres
import Providers
import PushContract
import Synchronization

extension LiveEngine {
    /// Keeps leases alive, takes what is free, and lets go of what others took. What is free is looked for in each turn: a match that was
    /// just announced, at whichever instance, does not wait for the next renewal.
    func claimSubjects(all: Bool, now: Timestamp) async throws {
        let due = state.withLock { state in
            state.leasesRenewedAt.map { now - $0 >= configuration.lease / 3 } ?? true
        }
        if !due, !all { guard try await stores.subjects.isAnyUnleased() else { return } }
        let started = ContinuousClock.now
        let leased = try await stores.subjects.claim(owner: configuration.owner, lease: configuration.lease)
        let known = state.withLock { state in
            let before = state.subjects
            state.leasesRenewedAt = now
            state.leasedUntil = started + configuration.lease
            for gone in Set(before.keys).subtracting(leased.map(\.id)) {
                state.subjects[gone] = nil
                state.fanOut.forget(gone)
            }
            // The state itself is taken up by publishChanges, which compares timestamps.
            for subject in leased { state.subjects[subject.id]?.epoch = subject.epoch }
            return before
        }
        for subject in leased where known[subject.id] == nil {
            if subject.epoch > 1 { LiveMetrics.takeovers.increment() }
            try await take(up: subject, now: now)
        }
    }

    /// States that were written since the last look.
    func publishChanges(now: Timestamp) async throws {
        let known = state.withLock { $0.subjects.mapValues(\.timestamp) }
        guard !known.isEmpty else { return }
        for subject in try await stores.subjects.changed(owner: configuration.owner, known: known) {
            try await take(up: subject, now: now)
        }
    }

    /// One subject with a new state: followers who lack an activity get one, those who have one get the state, or the end.
    private func take(up subject: LiveSubject, now: Timestamp) async throws {
        let before = state.withLock { state in
            defer { state.subjects[subject.id] = subject }
            return state.subjects[subject.id]
        }
        if subject.isOver {
            state.withLock { $0.fanOut.forget(subject.id) }
            _ = try await stores.orchestrator.endOver([subject.id], now: now)
            return
        }
        if subject.isResting {
            state.withLock { $0.fanOut.forget(subject.id) }
            _ = try await stores.orchestrator.endDay([subject.id], now: now)
        }
        guard subject.isLive else { return }
        if before?.isLive != true {
            state.withLock { $0.wantedAt = nil }
            let created = try await stores.orchestrator.createMissing([subject.id], now: now)
            LiveMetrics.created.increment(by: created)
        }
        try await publish(subject, now: now)
    }

    private func publish(_ subject: LiveSubject, now: Timestamp) async throws {
        let known = state.withLock { $0.fanOut.state(of: subject.id) }
        let alerts =
            (known?.alerts.filter { now - $0.builtAt <= SubjectAlert.retention } ?? [])
            + (try await stores.subjects.alerts(of: subject.id, after: known?.timestamp ?? 0, through: subject.timestamp, now: now))
        let published: PublishedState
        do throws(PushError) {
            published = try PublishedState(subject, alerts: alerts, now: now)
        } catch {
            LiveMetrics.unsendable.increment()
            logger.error("a state cannot be sent", metadata: ["subject": "\(subject.id)", "fault": "\(error)"])
            return
        }
        LiveMetrics.built.increment()
        try await refreshRecipients(subject.id, publishing: published, behind: nil, now: now)
    }

    /// Reads who is active; tokens only of those that are new or have another one.
    ///
    /// - Parameter published: a newer state, which nobody is sent who was not active after it was read.
    private func refreshRecipients(
        _ subject: String,
        publishing published: PublishedState? = nil,
        behind timestamp: Int64?,
        now: Timestamp
    ) async throws {
        let members = try await stores.audience.members(of: subject, behind: timestamp)
        let unknown = state.withLock { state in members.filter { state.fanOut.address(of: $0.key)?.rawValue != $0.tokenHash } }
        let fresh = try await stores.audience.recipients(unknown)
        let usesChannels = state.withLock { $0.subjects[subject]?.usesChannels ?? false }
        let channels = !usesChannels ? [] : try await stores.channels.recipients(of: subject, behind: timestamp)
        state.withLock { state in
            if let published { state.fanOut.publish(published) }
            for recipient in fresh + channels { state.fanOut.join(recipient, now: now) }
            guard timestamp == nil else { return }
            state.fanOut.keepOnly(members.map(\.key) + channels.map(\.key), of: subject, now: now)
        }
    }

    /// Activities that became active, or got another token, since the state was published.
    func findNewFollowers(all: Bool, now: Timestamp) async throws {
        let (due, live) = state.withLock { state in
            let due = state.searchedAt.map { now - $0 >= .milliseconds(500) } ?? true
            if due || all { state.searchedAt = now }
            return (due || all, state.subjects.values.filter(\.isLive).map { ($0.id, $0.timestamp) })
        }
        guard due else { return }
        for (subject, timestamp) in live { try await refreshRecipients(subject, behind: timestamp, now: now) }
        for channel in try await stores.channels.takeCatchUps(of: live.map(\.0), now: now) {
            state.withLock { $0.fanOut.repeatNewest(to: channel.activity, after: .zero, now: now) }
        }
    }

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
        let created = try await stores.orchestrator.createMissing(live, now: now)
        LiveMetrics.created.increment(by: created)
        if created > 0 { logger.info("activities were created", metadata: ["count": "\(created)"]) }
        _ = try await stores.orchestrator.endDay(subjects.filter(\.isResting).map(\.id), now: now)
        _ = try await stores.orchestrator.endOver(subjects.filter(\.isOver).map(\.id), now: now)
        LiveMetrics.silentFeeds.record(try await stores.orchestrator.endSilent(live, now: now))
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
}
