import CoreMetrics
import Delivery
import Logging
import Postgres
import Providers
import PushContract
import Synchronization

extension LiveEngine {
    /// Keeps leases alive and takes what is free. What is free is looked for in each turn: a match that was just announced, at whichever
    /// instance, does not wait for the next renewal. A large number of subjects is taken over in several turns.
    func claimSubjects(all: Bool, now: Timestamp) async throws {
        let due = state.withLock { state in
            state.leasesRenewedAt.map { now - $0 >= configuration.lease / 3 } ?? true
        }
        if due || all { try await renewLeases() }
        guard try await stores.subjects.isAnyUnleased() else { return }
        let started = ContinuousClock.now
        let claimed = try await stores.subjects.claim(
            owner: configuration.owner,
            lease: configuration.lease,
            limit: LiveEngine.claimedAtOnce
        )
        guard claimed > 0 else { return }
        state.withLock { state in
            let current = state.leasedUntil.flatMap { $0 > started ? $0 : nil }
            state.leasedUntil = min(current ?? started + configuration.lease, started + configuration.lease)
        }
    }

    private static let claimedAtOnce = 500

    /// Keeps leases alive, and lets go of what others took. The service does it next to the turns, however long one takes.
    package func renewLeases() async throws {
        let (started, now) = (ContinuousClock.now, now())
        let before = state.withLock { $0.subjects.keys }
        let leases = try await stores.subjects.renew(owner: configuration.owner, lease: configuration.lease)
        state.withLock { state in
            state.leasesRenewedAt = now
            state.leasedUntil = leases.left.map { started + $0 }
            for gone in before where leases.epochs[gone] == nil {
                state.subjects[gone] = nil
                state.fanOut.forget(gone)
                state.portions.forget(gone)
                state.backOffs[gone] = nil
            }
            for (subject, epoch) in leases.epochs { state.subjects[subject]?.epoch = epoch }
        }
    }

    /// Subjects that are new here, and states that were written since the last look.
    func publishChanges(now: Timestamp) async throws {
        guard hasLeases else { return }
        let known = state.withLock { $0.subjects.mapValues(\.timestamp) }
        for subject in try await stores.subjects.changed(owner: configuration.owner, known: known) {
            if known[subject.id] == nil, subject.epoch > 1 { LiveMetrics.takeovers.increment() }
            try await withBackOff(of: subject.id, now: now) { try await take(up: subject, now: now) }
        }
    }

    /// A subject that fails does not delay others: it is tried again in a moment. What concerns all of them, such as a database that is
    /// away, ends the turn.
    func withBackOff(of subject: String, now: Timestamp, _ body: () async throws -> Void) async throws {
        guard state.withLock({ state in state.backOffs[subject].map { $0 <= now } ?? true }) else { return }
        do {
            try await body()
            state.withLock { $0.backOffs[subject] = nil }
        } catch {
            if error is CancellationError || (error as? PostgresError)?.isUnavailable == true { throw error }
            state.withLock { $0.backOffs[subject] = now + LiveEngine.failurePause }
            logger.warning(
                "a subject of Live Activities cannot be updated; trying again",
                metadata: ["subject": "\(subject)", "error": "\(error)"]
            )
        }
    }

    static let failurePause = Duration.seconds(5)

    /// One subject with a new state: followers who lack an activity get one, those who have one get the state, or the end. What failed is
    /// not known, so that the next look finds it again.
    private func take(up subject: LiveSubject, now: Timestamp) async throws {
        let before = state.withLock { state in
            defer { state.subjects[subject.id] = subject }
            return state.subjects[subject.id]
        }
        guard subject.isShown(now: now) else {
            return state.withLock { state in
                state.fanOut.forget(subject.id)
                if subject.isOver { state.portions.end(subject.id, .over) }
                if subject.isResting { state.portions.end(subject.id, .day) }
            }
        }
        if subject.isLive, before?.isLive != true {
            state.withLock { state in
                state.wantedAt = nil
                state.portions.create(subject.id, isFirst: true)
            }
        }
        do {
            try await publish(subject, now: now)
        } catch {
            state.withLock { $0.subjects[subject.id] = before }
            throw error
        }
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
        try await refreshRecipients(of: published, now: now)
    }

    /// Reads who is active; tokens only of those that are new or have another one. Nobody is sent the state who was not active after it was
    /// read.
    private func refreshRecipients(of published: PublishedState, now: Timestamp) async throws {
        let subject = published.subject
        let members = try await stores.audience.members(of: subject)
        let fresh = try await recipients(members).known
        let usesChannels = state.withLock { $0.subjects[subject]?.usesChannels ?? false }
        let channels = !usesChannels ? [] : try await stores.channels.recipients(of: subject)
        state.withLock { state in
            state.fanOut.publish(published)
            for recipient in fresh + channels { state.fanOut.join(recipient, now: now) }
            state.fanOut.keepOnly(members.map(\.key) + channels.map(\.key), of: subject, now: now)
        }
    }

    /// Those of the members whose token is not known here.
    private func recipients(_ members: [RecipientStore.Member]) async throws -> (known: [Recipient], unreadable: Int) {
        try await stores.audience.recipients(
            state.withLock { state in members.filter { state.fanOut.address(of: $0.key)?.rawValue != $0.tokenHash } }
        )
    }

    /// Activities that became active, or got another token, since their subjects' states were published.
    func findNewFollowers(all: Bool, now: Timestamp) async throws {
        let (due, live) = state.withLock { state in
            let due = state.searchedAt.map { now - $0 >= .milliseconds(500) } ?? true
            if due || all { state.searchedAt = now }
            return (due || all, state.subjects.values.filter(\.isLive))
        }
        guard due else { return }
        let states = live.map { (subject: $0.id, timestamp: $0.timestamp) }
        let (fresh, unreadable) = try await recipients(try await stores.audience.members(behind: states))
        note(unreadable: unreadable)
        let open = live.filter(\.usesChannels).map { (subject: $0.id, timestamp: $0.timestamp) }
        let channels = try await stores.channels.recipients(behind: open)
        state.withLock { state in
            for recipient in fresh + channels { state.fanOut.join(recipient, now: now) }
        }
        for channel in try await stores.channels.takeCatchUps(of: states.map(\.subject), now: now) {
            state.withLock { $0.fanOut.repeatNewest(to: channel.activity, after: .zero, now: now) }
        }
    }

    /// Activities that have not been sent the newest state, because their update tokens cannot be decrypted here.
    private func note(unreadable count: Int) {
        LiveMetrics.unreadableTokens.record(count)
        let before = state.withLock { state in
            defer { state.unreadableTokens = count }
            return state.unreadableTokens
        }
        guard count > before else { return }
        logger.error("update tokens cannot be decrypted; their activities are not updated", metadata: ["count": "\(count)"])
    }
}
