package import Attempts
import CoreMetrics
package import Logging
import Postgres
import Providers
package import PushContract
package import ServiceKit
import ServiceLifecycle
import Synchronization

/// Takes deliveries out of the queue and sends them; takes over the leases of workers that did not come back.
///
/// One claimer per process, any number of processes. Every try ends in one transaction that writes its attempt, releases its lease and
/// acts on its token; a try whose lease was taken over writes nothing. On shutdown nothing more is claimed and tries under way end.
/// While the database is away it waits and goes on when it is back.
package final class SendDispatcher: Service, Sendable {
    private let store: SendStore
    private let throttles: ThrottleStore
    let configuration: DispatcherConfiguration
    /// Deliveries of one claim where several credentials are in use.
    private static let sharedClaimLimit = 50
    private let wake: WakeSignal
    private let logger: Logger
    let slots: SendSlots
    let pipeline: PushPipeline<QueueDeliveries>
    private let runner: DeliveryRunner
    /// What may go past the queue.
    let direct = Mutex(DirectAdmission())
    /// Deliveries that were leased when they were stored.
    let started = AsyncStream<ClaimedDelivery>.makeStream()

    /// - Parameters:
    ///   - wake: signalled by `POST /sends`, so that a send need not wait for the next round.
    ///   - uncommitted: counts the outcomes that wait to be written.
    package init(
        store: SendStore,
        throttles: ThrottleStore,
        lookup: @escaping ProviderLookup,
        configuration: DispatcherConfiguration = DispatcherConfiguration(),
        wake: WakeSignal = WakeSignal(),
        uncommitted: UncommittedOutcomes = UncommittedOutcomes(),
        logger: Logger
    ) {
        self.store = store
        self.throttles = throttles
        self.configuration = configuration
        self.wake = wake
        self.logger = logger
        slots = SendSlots(capacity: configuration.capacity)
        pipeline = PushPipeline(
            outcomes: store.outcomes(QueueDeliveries(kinds: store.kinds, logger: logger), delays: configuration.delays),
            intents: store.intents,
            owner: configuration.worker,
            lookup: lookup,
            uncommitted: uncommitted,
            writeTimeout: configuration.lease,
            logger: logger
        )
        runner = DeliveryRunner(pipeline: pipeline, delays: configuration.delays)
    }

    /// When each credential was last accepted.
    @Sendable
    package func lastAccepted() -> [String: Timestamp] { pipeline.gate.lastAccepted }

    package func run() async throws {
        await withGracefulShutdownHandler {
            await pipeline.working {
                await withDiscardingTaskGroup { group in
                    group.addTask { await self.renewLeases() }
                    group.addTask { await self.handleStarted() }
                    await claimUntilShutdown { delivery in group.addTask { await self.handle(delivery) } }
                    direct.withLock { $0.close() }
                    await drain()
                    started.continuation.finish()
                    group.cancelAll()
                }
            }
        } onGracefulShutdown: { [wake, self] in
            direct.withLock { $0.close() }
            wake.signal()
        }
    }

    /// Claims and sends until nothing is ready or due. For tests and one-off runs.
    package func runUntilIdle() async throws {
        try await pipeline.working {
            var queueClaims = QueueClaims(policy: configuration.queues)
            while true {
                queueClaims.sweptAt = nil
                queueClaims.pacedAt = [:]
                var claimed: [ClaimedDelivery] = []
                _ = try await round(&queueClaims) { claimed.append($0) }
                guard !claimed.isEmpty else { return }
                await withDiscardingTaskGroup { group in
                    for delivery in claimed { group.addTask { await self.handle(delivery) } }
                }
            }
        }
    }

    private func claimUntilShutdown(_ start: (ClaimedDelivery) -> Void) async {
        var queueClaims = QueueClaims(policy: configuration.queues)
        var pause = configuration.shortestPause
        while !Task.isShuttingDownGracefully && !Task.isCancelled {
            do {
                let round = try await round(&queueClaims, start: start)
                if round.isMoreWaiting { continue }
                pause = round.claimed == 0 ? min(pause * 2, configuration.longestPause) : configuration.shortestPause
            } catch is CancellationError {
                return
            } catch {
                logger.warning("the send queue cannot be read; trying again", metadata: ["error": "\(error)"])
                pause = .seconds(1)
            }
            await wake.wait(upTo: pause)
        }
    }

    /// Tries that take long keep their leases; those of a process that died run out.
    private func renewLeases() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: configuration.lease / 3)
            do {
                _ = try await store.renew(slots.leases, lease: configuration.lease)
            } catch is CancellationError {
                return
            } catch {
                logger.warning("leases could not be renewed; trying again", metadata: ["error": "\(error)"])
            }
        }
    }

    private func drain() async {
        let end = ContinuousClock.now + configuration.drainLimit
        while slots.count > 0, ContinuousClock.now < end, !Task.isCancelled {
            await wake.wait(upTo: min(end - ContinuousClock.now, .milliseconds(100)))
        }
    }

    struct Round {
        var claimed = 0
        /// A claim was filled to its limit and its credential has free slots, so there is probably more to claim now.
        var isMoreWaiting = false
    }

    /// One look at the queue: makes due what is due, reaps now and then, divides the free slots, claims.
    ///
    /// - Parameter start: called for each delivery as soon as it is claimed, so that an error later in the round leaves none behind that holds
    ///   a slot and a lease and is not sent.
    func round(
        _ queueClaims: inout QueueClaims,
        now: ContinuousClock.Instant = .now,
        start: (ClaimedDelivery) -> Void
    ) async throws -> Round {
        var round = Round()
        let isSweep = queueClaims.isSweepDue(configuration.sweep, now: now)
        if isSweep {
            try await reap()
            try await giveBack()
            queueClaims.throttles = try await throttles.current()
            round.claimed += try await claimProbes(of: try await store.refresh(pipeline.gate), start: start)
            queueClaims.cursors = [:]
            queueClaims.sweptAt = now
        }
        try await release(isSweep: isSweep, &queueClaims)
        let promoted = try await store.promote()
        round.isMoreWaiting = promoted >= 1000 || queueClaims.isReleasing
        let allQueues = try await store.queues(cursors: queueClaims.cursors)
        direct.withLock { $0.look(at: allQueues, throttles: queueClaims.throttles) }
        let queues = allQueues.filter { $0.hasWork && allowed($0.queue) > 0 }.map(\.queue)
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
            let claimed = try await claim(limit, queue, &queueClaims, start: start)
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

    /// Makes ready what a circuit blocked that has closed, and begins slowly after an outage: a part of it in each round, as others are not
    /// to wait for all of it. A sweep also finds what was blocked after its circuit had closed, or before this process started.
    private func release(isSweep: Bool, _ queueClaims: inout QueueClaims) async throws {
        let closed = pipeline.gate.takeClosed()
        for scope in closed where scope.kind.isOutage {
            slots.restart(SendSlots.Credential(provider: scope.provider, environment: scope.environment, name: scope.credential))
        }
        guard isSweep || queueClaims.isReleasing || !closed.isEmpty else { return }
        let limit = 1000
        queueClaims.isReleasing = true
        queueClaims.isReleasing = try await store.requeueUnblocked(limit: limit) == limit
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
    private func reap() async throws {
        let limit = 500
        var reaped = limit
        while reaped == limit {
            reaped = try await store.reap(limit: limit)
            guard reaped > 0 else { return }
            SendMetrics.reaped.increment(by: reaped)
            logger.warning("leases ran out; their deliveries were taken up again", metadata: ["count": "\(reaped)"])
        }
    }

    /// Takes the turns of probes that are due. How many there were.
    private func claimProbes(of circuits: [Circuit], start: (ClaimedDelivery) -> Void) async throws -> Int {
        var probes = 0
        for circuit in circuits {
            let credential = pipeline.credential(for: PushScope(circuit.scope))
            let interval = CircuitDecision.probeInterval(circuit, delays: configuration.delays, random: Double.random(in: 0...1))
            guard try await store.reserveProbe(circuit, credential: credential, interval: interval) else { continue }
            if let probe = try await store.claimProbe(of: circuit, lease: configuration.lease, worker: configuration.worker) {
                slots.enter(probe, self.credential(probe.scope), now: .now)
                start(probe)
                probes += 1
            } else {
                // It blocks nothing, so nothing can be a probe: the next delivery is one.
                _ = try await store.closeCircuit(circuit.id, by: "nothing waits")
            }
        }
        return probes
    }

    /// How many more of a queue may be under way now, with regard to what its provider asked for.
    func allowed(_ queue: SendQueue) -> Int {
        let limit = pipeline.gate.slots(of: queue, capacity: configuration.capacity, ramp: configuration.delays.ramp, now: .now())
        return limit - slots.count(of: queue.id)
    }

    /// How many were claimed.
    private func claim(
        _ count: Int,
        _ queue: SendQueue,
        _ queueClaims: inout QueueClaims,
        start: (ClaimedDelivery) -> Void
    ) async throws -> Int {
        var limit = count
        guard limit > 0 else { return 0 }
        let throttle = queueClaims.throttle(of: queue)
        if let throttle { limit = try await throttles.take(limit, from: throttle) }
        guard limit > 0 else { return 0 }
        let claimed: [ClaimedDelivery]
        do {
            claimed = try await store.claim(
                queue: queue.id,
                cursor: queueClaims.cursors[queue.id] ?? 0,
                limit: limit,
                lease: configuration.lease,
                worker: configuration.worker
            )
        } catch {
            noteUnknownLeases()
            throw error
        }
        for delivery in claimed {
            slots.enter(delivery, credential(delivery.scope), now: .now)
            start(delivery)
        }
        if let last = claimed.last { queueClaims.cursors[queue.id] = last.seq + 1 }
        SendMetrics.claimed.increment(by: claimed.count)
        let attempted = claimed.count { $0.newestVerdict == .newest }
        if let throttle { try await throttles.refund(limit - attempted, to: throttle) }
        return claimed.count
    }

    /// Writes outcomes as long as `body` handles deliveries. For tests.
    func working(_ body: () async -> Void) async { await pipeline.working(body) }

    func handle(_ delivery: ClaimedDelivery) async {
        let disposition = await runner.run(delivery) { [slots] in slots.answer(delivery, $0, now: .now) }
        if disposition == .lost { slots.lose(delivery, now: .now) }
        if slots.leave(delivery) || pipeline.gate.hasClosed { wake.signal() }
    }
}
