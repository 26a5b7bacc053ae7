import CoreMetrics
import Logging
import PushContract
import ServiceKit
import Synchronization

extension SendDispatcher {
    /// Deliveries of one claim where several credentials are in use.
    private static let sharedClaimLimit = 50

    struct Round {
        var claimed = 0
        /// A claim was filled to its limit and its credential has free slots, so there is probably more to claim now.
        var isMoreWaiting = false
    }

    /// One look at the queue: makes due what is due, reaps now and then, divides the free slots, claims.
    ///
    /// - Parameter start: called for each delivery as soon as it is claimed, so that an error later in the round leaves none behind that
    ///   holds a slot and a lease and is not sent.
    func round(
        _ queueClaims: inout QueueClaims,
        now: ContinuousClock.Instant = .now,
        start: (StartedDelivery) -> Void
    ) async throws -> Round {
        var round = Round()
        let sweep = queueClaims.isSweepDue(configuration.sweep, now: now) ? try await store.position() : nil
        if let sweep {
            queueClaims.beginSweep(at: sweep)
            try await reap(since: queueClaims.dueSince)
            try await giveBack()
            queueClaims.throttles = try await throttles.current()
            round.claimed += try await claimProbes(of: try await store.refresh(pipeline.gate), start: start)
            queueClaims.sweptAt = now
        }
        try await release(isSweep: sweep != nil, &queueClaims)
        try await store.end(endedFlights)
        let promoted = try await store.promote(since: queueClaims.dueSince)
        if promoted < ClaimQueries.promoteLimit { queueClaims.foundAllDue() }
        round.isMoreWaiting = promoted == ClaimQueries.promoteLimit || queueClaims.isReleasing
        let allQueues = try await store.queues(cursors: queueClaims.cursors)
        queueClaims.looked(at: allQueues, isSweep: sweep != nil)
        direct.withLock { $0.look(at: allQueues, throttles: queueClaims.throttles, now: .now) }
        wakeSlotWaiters()
        let first = Dictionary(uniqueKeysWithValues: allQueues.compactMap { look in look.first.map { (look.queue.id, $0) } })
        let queues = allQueues.map(\.queue).filter { first[$0.id] != nil && allowed($0) > 0 }
        // A claim holds up those of other credentials.
        let isShared = Set(allQueues.map { credential($0.queue.scope) }).count > 1
        let claimLimit = isShared ? min(configuration.claimLimit, Self.sharedClaimLimit) : configuration.claimLimit
        let byCredential = Dictionary(grouping: queues, by: { credential($0.scope) })
        let division = slots.divide(among: Set(byCredential.keys), now: now)
        // Critical queues of all credentials first.
        var grants: [(credential: SendSlots.Credential, queue: SendQueue, grant: QueueScheduler.Grant)] = []
        for (credential, queues) in byCredential {
            guard let slots = division[credential] else { continue }
            for grant in queueClaims[credential].grants(queues: queues, slots: slots) {
                guard let queue = queues.first(where: { $0.id == grant.queue }) else { continue }
                grants.append((credential, queue, grant))
            }
        }
        for (credential, queue, grant) in grants.filter(\.queue.isCritical) + grants.filter({ !$0.queue.isCritical }) {
            var limit = min(grant.count, allowed(queue), claimLimit)
            let isPaced =
                pipeline.gate.blocks(queue.scope, credential: credential.name) || isShared && !queue.isCritical && slots.isSlow(credential)
            if isPaced { limit = min(limit, queueClaims.takePaced(of: queue.id, now: now)) }
            let claimed = try await claim(limit, queue, from: first[queue.id] ?? 0, &queueClaims, start: start)
            queueClaims[credential].claimed(claimed, of: grant)
            round.claimed += claimed
            let isFull = claimed == limit && !isPaced
            round.isMoreWaiting = round.isMoreWaiting || isFull && claimed > 0 && slots.hasFreeSlots(credential)
        }
        return round
    }

    /// The credential that pushes of this scope are sent with.
    func credential(_ scope: PushScope) -> SendSlots.Credential {
        SendSlots.Credential(provider: scope.provider, environment: scope.environment, name: pipeline.credential(for: scope))
    }

    /// Makes ready what a circuit blocked that has closed, and retries of its outage, and begins slowly after that: a part of them in each
    /// round, as others are not to wait for all. A sweep also finds what was blocked after its circuit had closed, or before this process
    /// started.
    private func release(isSweep: Bool, _ queueClaims: inout QueueClaims) async throws {
        let closed = pipeline.gate.takeClosed()
        for scope in closed where scope.kind.isOutage {
            slots.restart(SendSlots.Credential(provider: scope.provider, environment: scope.environment, name: scope.credential))
        }
        if isSweep || !closed.isEmpty {
            let unblocked = try await store.unblockedCircuits(since: queueClaims.dueSince)
            queueClaims.unblocked.formUnion(unblocked)
            let queues = try await store.takeOutageQueues()
            queueClaims.retries += queues.map { (queue: $0, after: Int64(0)) }
        }
        let limit = configuration.releaseLimit
        if !queueClaims.unblocked.isEmpty {
            let released = try await store.requeueUnblocked(queueClaims.unblocked.sorted(), limit: limit)
            if released < limit { queueClaims.unblocked = [] }
        }
        try await releaseRetries(&queueClaims)
    }

    /// In the order of the deliveries, so that each is made ready once: one that fails again waits for its time. If this process ends,
    /// those that are left fall due by themselves, within 15 minutes.
    private func releaseRetries(_ queueClaims: inout QueueClaims) async throws {
        var limit = configuration.releaseLimit
        while limit > 0, let first = queueClaims.retries.first {
            let released = try await store.requeueRetries(of: first.queue, after: first.after, limit: limit)
            if let last = released.last, released.count == limit {
                queueClaims.retries[0].after = last
            } else {
                queueClaims.retries.removeFirst()
            }
            limit -= released.count
        }
    }

    /// Makes ready what this process leased without learning of it.
    private func giveBack() async throws {
        guard direct.withLock({ $0.hasUnknownLeases }) else { return }
        let since = ContinuousClock.now
        let returned = try await store.giveBack(of: configuration.worker, except: slots.known)
        direct.withLock { $0.searchedForUnknownLeases(now: since) }
        guard returned > 0 else { return }
        logger.warning("deliveries are ready again: the answer to their claim was lost", metadata: ["count": "\(returned)"])
    }

    /// Takes up what other workers, or this one before a restart, did not finish in time.
    private func reap(since: Timestamp?) async throws {
        let reaped = try await store.reap(since: since)
        guard reaped > 0 else { return }
        SendMetrics.reaped.increment(by: reaped)
        logger.warning("leases ran out; their deliveries were taken up again", metadata: ["count": "\(reaped)"])
    }

    /// Takes the turns of probes that are due. How many there were.
    private func claimProbes(of circuits: [Circuit], start: (StartedDelivery) -> Void) async throws -> Int {
        guard !circuits.isEmpty else { return 0 }
        try await store.closeIdleCircuits()
        var probes = 0
        for circuit in circuits {
            let credential = pipeline.credential(for: PushScope(circuit.scope))
            let interval = CircuitDecision.probeInterval(circuit, delays: configuration.delays, random: Double.random(in: 0...1))
            // Pushes that no queue holds may wait for it, too. Where they alone do, the probe is theirs.
            guard try await store.reserveProbe(circuit, credential: credential, interval: interval, fromQueue: true) else { continue }
            let claimed = try await notingUnknownLeases {
                try await store.claimProbe(of: circuit, lease: configuration.lease, worker: configuration.worker)
            }
            guard let probe = claimed else {
                try await store.returnProbe(of: circuit)
                continue
            }
            slots.enter(probe, self.credential(probe.scope), now: .now)
            start(StartedDelivery(probe))
            probes += 1
        }
        return probes
    }

    /// A claim that fails may have been committed.
    private func notingUnknownLeases<Claimed>(_ claim: () async throws -> Claimed) async throws -> Claimed {
        do { return try await claim() } catch {
            noteUnknownLeases()
            throw error
        }
    }

    /// How many more of a queue may be under way now, with regard to what its provider asked for.
    func allowed(_ queue: SendQueue) -> Int {
        let limit = pipeline.gate.slots(of: queue, capacity: configuration.capacity, ramp: configuration.delays.ramp, now: .now())
        return limit - slots.count(of: queue.id)
    }

    /// How many were claimed.
    ///
    /// - Parameter first: the first position of the queue that was seen. What is before it was searched already.
    private func claim(
        _ count: Int,
        _ queue: SendQueue,
        from first: Int64,
        _ queueClaims: inout QueueClaims,
        start: (StartedDelivery) -> Void
    ) async throws -> Int {
        var limit = count
        guard limit > 0 else { return 0 }
        let throttle = queueClaims.throttle(of: queue)
        if let throttle { limit = try await throttles.take(limit, from: throttle) }
        guard limit > 0 else { return 0 }
        let claimed = try await notingUnknownLeases {
            try await store.claim(
                queue: queue.id,
                cursor: first,
                limit: limit,
                lease: configuration.lease,
                worker: configuration.worker
            )
        }
        let usual = credential(queue.scope)
        for delivery in claimed {
            // Its device may have changed to the other environment since.
            let credential = delivery.environment == queue.environment ? usual : credential(delivery.scope)
            slots.enter(delivery, credential, now: .now)
            start(StartedDelivery(delivery))
        }
        if let last = claimed.last { queueClaims.claimed(last.seq, in: queue.id) }
        SendMetrics.claimed.increment(by: claimed.count)
        let attempted = claimed.count { $0.newestVerdict == .newest }
        if let throttle { try await throttles.refund(limit - attempted, to: throttle) }
        return claimed.count
    }
}
