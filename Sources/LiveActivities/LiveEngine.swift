package import Attempts
import CoreMetrics
package import Delivery
package import Logging
package import Postgres
import Providers
package import PushContract
package import ServiceKit
import Synchronization

/// Finds what has to be pushed. Updates and broadcasts it pushes itself; starts and ends, and pushes to devices without Live
/// Activities, are deliveries of the send queue.
///
/// `turn` looks into the database and returns jobs; `perform` does one. The service runs them side by side; tests run them to the end.
package final class LiveEngine: Sendable {
    package enum Job: Sendable {
        /// Sends updates until no token waits.
        case updates(workers: Int)
        case channel(ChannelClaim)
        /// Stores sends to devices without Live Activities.
        case otherDevices([OtherDevicesLook])
    }

    struct State {
        var subjects: [String: LiveSubject] = [:]
        var fanOut = FanOutState()
        var portions = ActivityPortions()
        var shares = StartShares()
        /// Subjects that could not be updated, and when they are tried again.
        var backOffs: [String: Timestamp] = [:]
        var portionsPausedUntil: Timestamp?
        var throttles = LiveThrottles()
        var otherDevices = OtherDevicesRegistry()
        var workers = 0
        var managing = 0
        var rate: StartRate
        var leasedUntil: ContinuousClock.Instant?
        var cycledAt: Timestamp?
        var leasesRenewedAt: Timestamp?
        var searchedAt: Timestamp?
        /// How many update tokens could not be decrypted then.
        var unreadableTokens = 0
        var sendGateReadAt: Timestamp?
        var wantedAt: Timestamp?
        /// Shutting down: no further update is begun.
        var isDraining = false
    }

    let configuration: LiveConfiguration
    let stores: LiveStores
    let logger: Logger
    let pipeline: PushPipeline<LivePushes>
    let queueWake: WakeSignal
    let check: SendStore.PayloadCheck
    let now: @Sendable () -> Timestamp
    let state: Mutex<State>

    /// - Parameters:
    ///   - queueWake: signalled when starts were put into the send queue.
    ///   - now: the clock that everything is decided by.
    package init(
        configuration: LiveConfiguration = LiveConfiguration(),
        stores: LiveStores,
        lookup: @escaping ProviderLookup,
        queueWake: WakeSignal = WakeSignal(),
        logger: Logger,
        now: @escaping @Sendable () -> Timestamp = { .now() }
    ) {
        self.configuration = configuration
        self.stores = stores
        self.queueWake = queueWake
        self.logger = logger
        self.now = now
        check = SendValidation.checker(lookup)
        pipeline = PushPipeline(
            outcomes: stores.outcomes,
            intents: stores.intents,
            owner: configuration.owner,
            lookup: lookup,
            uncommitted: stores.uncommitted,
            logger: logger,
            now: now
        )
        state = Mutex(State(rate: StartRate(perSecond: configuration.policy.perSecond, now: now())))
    }

    /// One look at everything: leases, states, activities, starts.
    ///
    /// - Parameter all: also what is only due every cycle, at once.
    package func turn(all: Bool = false) async throws -> [Job] {
        let now = now()
        try await claimSubjects(all: all, now: now)
        try await refreshSendGate(all: all, now: now)
        try await publishChanges(now: now)
        try await cycle(all: all, now: now)
        try await makeAndEndActivities(now: now)
        try await findNewFollowers(all: all, now: now)
        try await requestChannels(all: all, now: now)
        try await refillThrottles()
        try await enqueueStarts(now: now)
        var jobs = updateJobs()
        jobs += try await channelJobs(now: now)
        jobs += await otherDevicesJobs(now: now)
        gauge()
        return jobs
    }

    /// Does one job. Only within `working`.
    package func perform(_ job: Job) async {
        switch job {
        case .updates(let workers): await sendUpdates(workers: workers)
        case .otherDevices(let looks): await sendToOtherDevices(looks)
        case .channel(let claim):
            await serve(claim)
            state.withLock { $0.managing -= 1 }
        }
    }

    /// Writes outcomes as long as `body` performs jobs, and returns when all of them are written.
    package func working<Value: Sendable, Failure: Error>(
        _ body: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await pipeline.working(body)
    }

    /// Pushes under way end; nothing further is begun.
    package func drain() { state.withLock { $0.isDraining = true } }

    /// Whether this process may send for its subjects: never beyond its lease.
    var hasLeases: Bool {
        state.withLock { state in state.leasedUntil.map { ContinuousClock.now < $0 } ?? false }
    }

    /// Whether activities are left to be made or ended: the next turn goes on with them.
    package var hasPortions: Bool {
        let now = now()
        return hasLeases && state.withLock { !$0.portions.isEmpty && $0.portionsPausedUntil.map { $0 <= now } ?? true }
    }

    package var isIdle: Bool { state.withLock { $0.workers == 0 && $0.managing == 0 && $0.otherDevices.isIdle } }

    /// Releases the leases of this process.
    package func release() async {
        try? await stores.subjects.release(owner: configuration.owner)
    }

    private func gauge() {
        let (waiting, inFlight, backingOff, leased) = state.withLock {
            ($0.fanOut.waiting, $0.fanOut.inFlight, $0.fanOut.backingOffCount, $0.subjects.count)
        }
        LiveMetrics.gauge(waiting: waiting, inFlight: inFlight, backingOff: backingOff, leased: leased)
    }
}

/// The stores the engine works with.
package struct LiveStores: Sendable {
    package var subjects: SubjectStore
    var orchestrator: OrchestratorStore
    package var audience: RecipientStore
    var starts: StartStore
    var otherDevices: OtherDevicesStore
    package var intents: IntentStore
    package var outcomes: OutcomeStore<LivePushes>
    package var channels: ChannelStore
    /// Circuits and pauses, which all sends share.
    package var sends: SendStore
    package var throttles: ThrottleStore
    /// Counts the outcomes that wait to be written.
    package var uncommitted: UncommittedOutcomes

    package init(
        pool: PostgresPool,
        policy: StartPolicy = StartPolicy(),
        portion: Int = PendingActivities.portion,
        channels: ChannelPolicy = ChannelPolicy(),
        types: AttributesTypes = AttributesTypes(),
        cipher: TokenCipher,
        feedbackWriter: TokenFeedbackWriter = TokenFeedbackWriter(),
        uncommitted: UncommittedOutcomes = UncommittedOutcomes(),
        record: @escaping AttemptRecorder
    ) {
        self.uncommitted = uncommitted
        subjects = SubjectStore(pool: pool)
        orchestrator = OrchestratorStore(pool: pool, policy: policy, portion: portion)
        audience = RecipientStore(pool: pool, cipher: cipher)
        otherDevices = OtherDevicesStore(pool: pool, types: types)
        starts = StartStore(pool: pool, policy: policy, channels: channels)
        intents = IntentStore(pool: pool, record: record)
        outcomes = OutcomeStore(LivePushes(channels: channels), pool: pool, feedbackWriter: feedbackWriter, record: record)
        self.channels = ChannelStore(pool: pool, policy: channels)
        throttles = ThrottleStore(pool: pool)
        sends = SendStore(pool: pool, feedbackWriter: feedbackWriter, record: record)
    }
}
