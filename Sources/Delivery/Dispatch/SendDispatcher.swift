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
    let store: SendStore
    let throttles: ThrottleStore
    let configuration: DispatcherConfiguration
    private let wake: WakeSignal
    let logger: Logger
    let slots: SendSlots
    let pipeline: PushPipeline<QueueDeliveries>
    private let runner: DeliveryRunner
    let endedFlights = EndedFlights()
    /// What may go past the queue.
    let direct = Mutex(DirectAdmission())
    /// Where sends wait for slots before they are stored.
    let slotWaiters: SlotWaiters
    /// Deliveries that were leased when they were stored.
    let started = AsyncStream<[StartedDelivery]>.makeStream()

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
        let all = QueueScheduler.Slots(capacity: configuration.capacity)
        slotWaiters = SlotWaiters(slots: slots, usable: all.freeForOthers(configuration.queues), patience: configuration.slotWait)
        pipeline = PushPipeline(
            outcomes: store.outcomes(
                QueueDeliveries(kinds: store.kinds, endedFlights: endedFlights, logger: logger),
                delays: configuration.delays
            ),
            intents: store.intents,
            owner: configuration.worker,
            lookup: lookup,
            uncommitted: uncommitted,
            writeTimeout: configuration.lease,
            logger: logger
        )
        runner = DeliveryRunner(pipeline: pipeline, delays: configuration.delays, logger: logger)
    }

    /// When each credential was last accepted.
    @Sendable
    package func lastAccepted() -> [String: Timestamp] { pipeline.gate.lastAccepted }

    package func run() async throws {
        SendMetrics.reaped.increment(by: 0)
        await withGracefulShutdownHandler {
            await pipeline.working {
                await withDiscardingTaskGroup { group in
                    group.addTask { await self.renewLeases() }
                    group.addTask { await self.handleStarted() }
                    await claimUntilShutdown { add($0, to: &group) }
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

    /// Claims and sends until nothing is ready or due, and no flight is left to end. For tests.
    package func runUntilIdle() async throws {
        // All outcomes are written by now: deliveries that no slot was free for can be claimed.
        while try await runUntilNothingIsClaimed(), slots.count == 0 {}
    }

    /// Whether slots were in use when nothing was claimed.
    private func runUntilNothingIsClaimed() async throws -> Bool {
        try await pipeline.working {
            var queueClaims = QueueClaims(policy: configuration.queues)
            while true {
                queueClaims.sweptAt = nil
                queueClaims.pacedAt = [:]
                let areSlotsInUse = slots.count > 0
                var claimed: [StartedDelivery] = []
                _ = try await round(&queueClaims) { claimed.append($0) }
                guard !claimed.isEmpty || !endedFlights.isEmpty else { return areSlotsInUse }
                await withDiscardingTaskGroup { group in
                    for started in claimed { add(started, to: &group) }
                }
                // Their outcomes may make others ready.
                await drain()
            }
        }
    }

    private func claimUntilShutdown(_ start: (StartedDelivery) -> Void) async {
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
                logger.log(
                    level: .warning.unlessOutage(error),
                    "the send queue cannot be read; trying again",
                    metadata: ["error": "\(error)"]
                )
                // What this round was to search for is searched for again. What is being released was found once, and goes on.
                let (unblocked, retries) = (queueClaims.unblocked, queueClaims.retries)
                queueClaims = QueueClaims(policy: configuration.queues)
                (queueClaims.unblocked, queueClaims.retries) = (unblocked, retries)
                pause = .seconds(1)
            }
            await wake.wait(upTo: pause)
        }
    }

    /// Tries that take long keep their leases; those of a process that died run out. Often enough that a lease of which outcomes are being
    /// written at some of these moments, so that it is left out, is renewed at another one.
    private func renewLeases() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: configuration.lease / 12)
            do {
                _ = try await store.renew(slots.leases, lease: configuration.lease)
            } catch is CancellationError {
                return
            } catch {
                logger.log(
                    level: .warning.unlessOutage(error),
                    "leases could not be renewed; trying again",
                    metadata: ["error": "\(error)"]
                )
            }
        }
    }

    private func drain() async {
        let end = ContinuousClock.now + configuration.drainLimit
        while slots.count > 0, ContinuousClock.now < end, !Task.isCancelled {
            await wake.wait(upTo: min(end - ContinuousClock.now, .milliseconds(100)))
        }
        try? await store.end(endedFlights)
    }

    /// Writes outcomes as long as `body` handles deliveries. For tests.
    func working(_ body: () async -> Void) async { await pipeline.working(body) }

    /// Handles a delivery on the thread of the connections that it is sent through.
    func add(_ started: StartedDelivery, to group: inout DiscardingTaskGroup) {
        group.addTask(executorPreference: pipeline.executor(for: started.delivery.scope)) { await self.handle(started) }
    }

    /// Returns when the outcome is handed to its writer; the slot is left when it is written.
    func handle(_ started: StartedDelivery) async {
        await runner.run(started, answered: { answer(started, $0) }, written: { [self] in finish(started, $0) })
    }

    @inline(never)
    private func answer(_ started: StartedDelivery, _ outcome: PushOutcome) { slots.answer(started.delivery, outcome, now: .now) }

    /// Its outcome is written, or given up.
    @inline(never)
    private func finish(_ started: StartedDelivery, _ disposition: OutcomeDisposition?) {
        if disposition == .lost { slots.lose(started.delivery, now: .now) }
        if slots.leave(started.delivery) || pipeline.gate.hasClosed || endedFlights.hasNew { wake.signal() }
        wakeSlotWaiters()
    }
}
