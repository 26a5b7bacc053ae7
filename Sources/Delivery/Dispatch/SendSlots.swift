import Providers
import PushContract
import Synchronization

/// The attempts under way in this process, by credential and queue, and how many more each credential may have. Safe to use from any task.
final class SendSlots: Sendable {
    /// What shares a limit: a credential, at one of the provider's two environments, which are different servers.
    struct Credential: Hashable, Sendable {
        var provider: Provider
        var environment: PushEnvironment
        var name: String
    }

    /// By reference: each lease has that of its credential.
    fileprivate final class Use {
        var limit: AdaptiveLimit
        var capacity: Int
        var critical = 0
        var others = 0
        /// Unanswered requests, oldest first; those that were answered are removed when they come first.
        var unanswered: [(attempt: Attempt, since: ContinuousClock.Instant)] = []
        var first = 0

        init(limit: AdaptiveLimit, capacity: Int) {
            self.limit = limit
            self.capacity = capacity
        }

        var inFlight: Int { critical + others }

        func enter(_ delivery: ClaimedDelivery, now: ContinuousClock.Instant) {
            if delivery.deliveryClass == .critical { critical += 1 } else { others += 1 }
            unanswered.append((Attempt(delivery), now))
        }
    }

    /// A delivery under one lease. While its outcome waits to be written the lease may run out, and the delivery be claimed here again.
    fileprivate struct Attempt: Hashable {
        var deliveryId: Int64
        var leaseToken: Int64

        init(_ delivery: ClaimedDelivery) {
            deliveryId = delivery.deliveryId
            leaseToken = delivery.leaseToken
        }
    }

    fileprivate struct Lease {
        var use: Use
        var isAnswered = false
    }

    fileprivate struct State {
        var uses: [Credential: Use] = [:]
        var leases: [Attempt: Lease] = [:]
        var byQueue: [Int32: Int] = [:]
        /// Taken, and not entered yet.
        var reserved = 0
        /// The tokens of leases with attempts whose outcomes could not be written, and since when: they run out.
        var lost: [Int64: ContinuousClock.Instant] = [:]
    }

    private let capacity: Int
    private let state = Mutex(State())

    init(capacity: Int) { self.capacity = capacity }

    /// Attempts under way, and slots that are reserved.
    var count: Int { state.withLock { $0.leases.count + $0.reserved } }
    /// Those of credentials that are not slow: what waits for slots is not to wait for a provider that does not answer.
    func countWithoutSlow(now: ContinuousClock.Instant) -> Int {
        state.withLock { state in
            state.uses.values.reduce(0) { $0 + (state.isSlow($1, now: now) ? 0 : $1.inFlight) }
        }
    }
    /// The tokens of their leases.
    var leases: Set<Int64> { state.withLock { Set($0.leases.keys.map(\.leaseToken)) } }

    func count(of queue: Int32) -> Int { state.withLock { $0.byQueue[queue, default: 0] } }

    /// Divides the slots among the credentials that have something under way or to claim.
    func divide(among requesting: Set<Credential>, now: ContinuousClock.Instant) -> [Credential: QueueScheduler.Slots] {
        state.withLock { state in
            state.uses = state.uses.filter {
                $0.value.inFlight > 0 || requesting.contains($0.key) || $0.value.limit.exact < Double(capacity)
            }
            for key in requesting { _ = state.use(of: key, capacity: capacity) }
            let active = state.uses.filter { $0.value.inFlight > 0 || requesting.contains($0.key) }
            let shares = active.mapValues { use in
                SlotDivision.Share(inFlight: use.inFlight, isSlow: state.isSlow(use, now: now), limit: use.limit.value)
            }
            var slots: [Credential: QueueScheduler.Slots] = [:]
            for (key, capacity) in SlotDivision.capacities(of: shares, capacity: capacity) {
                state.uses[key]?.capacity = capacity
                guard requesting.contains(key), let use = state.uses[key] else { continue }
                slots[key] = QueueScheduler.Slots(capacity: capacity, critical: use.critical, others: use.others)
            }
            return slots
        }
    }

    /// Takes slots for up to so many deliveries of a queue, before there are leases; how many.
    func reserve(
        _ count: Int,
        of queue: SendQueue,
        _ credential: Credential,
        _ policy: QueueScheduler.Policy,
        now: ContinuousClock.Instant
    ) -> Int {
        guard let slots = divide(among: [credential], now: now)[credential] else { return 0 }
        let granted = min(count, queue.isCritical ? slots.free : slots.freeForOthers(policy))
        guard granted > 0 else { return 0 }
        state.withLock { $0.change(granted, of: queue, credential) }
        return granted
    }

    /// Frees reserved slots.
    func release(_ count: Int, of queue: SendQueue, _ credential: Credential) {
        state.withLock { $0.change(-count, of: queue, credential) }
    }

    /// An attempt was made, and its outcome could not be written.
    func lose(_ delivery: ClaimedDelivery, now: ContinuousClock.Instant) {
        state.withLock { state in
            state.lost = state.lost.filter { now - $0.value < SendStore.longestAttempt * 2 }
            state.lost[delivery.leaseToken] = now
        }
    }

    /// The tokens of leases with attempts that were begun, or may be.
    var known: Set<Int64> { state.withLock { Set($0.leases.keys.map(\.leaseToken)).union($0.lost.keys) } }

    func enter(_ delivery: ClaimedDelivery, _ credential: Credential, now: ContinuousClock.Instant) {
        state.withLock { $0.enter(delivery, credential, capacity: capacity, now: now) }
    }

    /// In one step with the end of their reservations: nobody else finds fewer slots free, or more.
    func enter(
        _ deliveries: [(StartedDelivery, Credential)],
        for reservations: [SlotReservation],
        now: ContinuousClock.Instant
    ) {
        state.withLock { state in
            for (started, credential) in deliveries { state.enter(started.delivery, credential, capacity: capacity, now: now) }
            for one in reservations { state.change(-one.count, of: one.queue, one.credential) }
        }
    }

    /// The provider answered, or did not in time.
    func answer(_ delivery: ClaimedDelivery, _ outcome: PushOutcome, now: ContinuousClock.Instant) {
        state.withLock { state in
            guard let index = state.leases.index(forKey: Attempt(delivery)) else { return }
            state.leases.values[index].isAnswered = true
            let use = state.leases.values[index].use
            use.limit.note(outcome, inFlight: use.inFlight, now: now)
        }
    }

    /// The outcome is written. True when its credential has free slots enough for another claim.
    func leave(_ delivery: ClaimedDelivery) -> Bool {
        state.withLock { state in
            guard let use = state.leases.removeValue(forKey: Attempt(delivery))?.use else { return false }
            state.byQueue[delivery.queue, default: 1] -= 1
            if delivery.deliveryClass == .critical { use.critical -= 1 } else { use.others -= 1 }
            while use.first < use.unanswered.count, state.leases[use.unanswered[use.first].attempt]?.isAnswered != false {
                use.first += 1
            }
            if use.first * 2 >= use.unanswered.count {
                use.unanswered.removeFirst(use.first)
                use.first = 0
            }
            return use.inFlight == 0 || use.inFlight == use.capacity / 2
        }
    }

    /// Whether a credential has at least half of its slots free.
    func hasFreeSlots(_ credential: Credential) -> Bool {
        state.withLock { state in state.uses[credential].map { $0.inFlight < max(1, $0.capacity / 2) } ?? true }
    }

    /// The last answer of its provider took long.
    func isSlow(_ credential: Credential) -> Bool { state.withLock { $0.uses[credential]?.limit.isSlow ?? false } }

    /// The provider is back after an outage.
    func restart(_ credential: Credential) { state.withLock { $0.uses[credential]?.limit.restart() } }
}

extension SendSlots.State {
    /// Its oldest unanswered request is old.
    fileprivate func isSlow(_ use: SendSlots.Use, now: ContinuousClock.Instant) -> Bool {
        let oldest = use.unanswered.dropFirst(use.first).first { leases[$0.attempt]?.isAnswered == false }
        return oldest.map { now - $0.since > SlotDivision.slow } ?? false
    }

    /// Begun if there is none.
    fileprivate mutating func use(of credential: SendSlots.Credential, capacity: Int) -> SendSlots.Use {
        if let use = uses[credential] { return use }
        let use = SendSlots.Use(limit: AdaptiveLimit(maximum: capacity), capacity: capacity)
        uses[credential] = use
        return use
    }

    fileprivate mutating func enter(
        _ delivery: ClaimedDelivery,
        _ credential: SendSlots.Credential,
        capacity: Int,
        now: ContinuousClock.Instant
    ) {
        let use = use(of: credential, capacity: capacity)
        leases[SendSlots.Attempt(delivery)] = SendSlots.Lease(use: use)
        byQueue[delivery.queue, default: 0] += 1
        use.enter(delivery, now: now)
    }

    /// Reserves slots, or frees reserved ones.
    fileprivate mutating func change(_ count: Int, of queue: SendQueue, _ credential: SendSlots.Credential) {
        reserved += count
        byQueue[queue.id, default: 0] += count
        if queue.isCritical { uses[credential]?.critical += count } else { uses[credential]?.others += count }
    }
}
