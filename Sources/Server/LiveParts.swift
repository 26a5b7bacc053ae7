import Attempts
import Delivery
import HTTPServer
import LiveActivities
import Logging
import Postgres
import PushContract
import ServiceKit
import ServiceLifecycle

/// Everything Live Activities consist of, wired: stores and routes for the API, the service for the role `live`.
struct LiveParts: Sendable {
    let service: LiveService
    /// Signalled by whatever changes what has to be pushed.
    let wake = WakeSignal()
    private let follows: FollowStore
    private let starts: StartStatusStore
    private let activities: ActivityStore
    private let custom: CustomActivityStore
    private let overview: MatchOverviewStore
    private let subjects: SubjectOverviewStore
    private let channels: ChannelStore
    private let types: AttributesTypes

    init(
        _ configuration: ServerConfiguration,
        pools: DatabasePools,
        attempts: AttemptParts,
        cipher: TokenCipher,
        lookup: @escaping ProviderLookup,
        queueWake: WakeSignal,
        logger: Logger
    ) throws {
        do throws(AttributesTypesError) {
            types = try AttributesTypes(directory: configuration.liveDirectory)
        } catch {
            throw ConfigurationError("A Live Activity type cannot be used: \(error)")
        }
        let live = configuration.live
        let pool = pools.ingest
        follows = FollowStore(pool: pool, policy: live.policy)
        starts = StartStatusStore(pool: pool, policy: live.policy, types: types)
        activities = ActivityStore(pool: pool, cipher: cipher)
        custom = CustomActivityStore(pool: pool, policy: live.policy)
        overview = MatchOverviewStore(pool: pools.readers)
        subjects = SubjectOverviewStore(pool: pools.readers)
        let stores = LiveStores(
            pool: pools.live,
            policy: live.policy,
            channels: live.channels,
            types: types,
            cipher: cipher,
            feedbackWriter: TokenFeedbackWriter(limits: configuration.deactivationLimiter),
            uncommitted: attempts.uncommitted,
            record: attempts.record
        )
        channels = ChannelStore(pool: pools.readers, policy: live.channels)
        let engine = LiveEngine(configuration: live, stores: stores, lookup: lookup, queueWake: queueWake, logger: logger)
        service = LiveService(engine: engine, wake: wake, logger: logger)
    }

    func addRoutes(to router: HTTPRouter) {
        FollowRoutes(store: follows, starts: starts, wake: wake).add(to: router)
        ActivityRoutes(store: activities, wake: wake).add(to: router)
        CustomActivityRoutes(store: custom, types: types, wake: wake).add(to: router)
        SubjectRoutes(states: custom, follows: follows, overview: subjects, starts: starts, types: types, wake: wake).add(to: router)
        OverviewRoutes(matches: overview, subjects: subjects).add(to: router)
        ChannelRoutes(store: channels).add(to: router)
    }
}

extension ServerConfiguration {
    fileprivate var live: LiveConfiguration {
        var live = LiveConfiguration()
        live.policy.perSecond = Double(liveStartsPerSecond)
        live.policy.perHour = liveStartsPerHour
        live.policy.perDay = liveStartsPerDay
        live.channels.mode = liveChannels
        return live
    }

    /// What Live Activities put into the send queue.
    func queuedKinds(pool: PostgresPool, cipher: TokenCipher, logger: Logger) -> QueuedKinds {
        QueuedKinds(
            [
                LiveStart(pool: pool, policy: live.policy, channels: live.channels, cipher: cipher),
                LiveEnd(pool: pool, cipher: cipher),
            ],
            logger: logger
        )
    }
}
