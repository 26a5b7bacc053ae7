import Attempts
import Delivery
import LiveActivities
import Logging
import Postgres
import ServiceKit

/// Devices, sends, and what delivers them where this process sends.
struct SendParts: Sendable {
    let cipher: TokenCipher
    /// A store of sends on connections of a class.
    let store: @Sendable (_ pool: PostgresPool) -> SendStore
    /// For callers' requests.
    let sends: SendStore
    let devices: DeviceStore
    /// Checks sends against the configured credentials and texts.
    let check: SendStore.PayloadCheck
    let wake = WakeSignal()
    /// Nil where this process does not send.
    let dispatcher: SendDispatcher?
    /// Of what callers send.
    let enqueueService: EnqueueService

    init(
        _ configuration: ServerConfiguration,
        pools: DatabasePools,
        attempts: AttemptParts,
        providers: ProviderRegistry,
        logger: Logger
    ) throws {
        let cipher = try configuration.tokenCipher()
        let record = attempts.record
        let feedbackWriter = TokenFeedbackWriter(limits: configuration.deactivationLimiter)
        self.cipher = cipher
        store = { pool in
            SendStore(
                pool: pool,
                cipher: cipher,
                feedbackWriter: feedbackWriter,
                bulkThreshold: configuration.bulkThreshold,
                kinds: configuration.queuedKinds(pool: pool, cipher: cipher, logger: logger),
                texts: configuration.texts,
                selection: LiveRecipients.self,
                record: record
            )
        }
        sends = store(pools.ingest)
        devices = DeviceStore(
            pool: pools.ingest,
            cipher: cipher,
            record: record,
            onRemoval: ActivityRemovals.end,
            onErasure: ActivityRemovals.erase,
            limit: configuration.devicesPerUser
        )
        check = SendValidation.checker(providers.lookup, texts: configuration.texts)
        var dispatching = DispatcherConfiguration()
        if let base = configuration.sendRetryBase { dispatching.delays = .quick(base) }
        dispatcher =
            if configuration.roles.contains(.send) {
                SendDispatcher(
                    store: store(pools.sending),
                    throttles: ThrottleStore(pool: pools.sending),
                    lookup: providers.lookup,
                    configuration: dispatching,
                    wake: wake,
                    uncommitted: attempts.uncommitted,
                    logger: logger
                )
            } else {
                nil
            }
        enqueueService = EnqueueService(store: sends, check: check, dispatcher: dispatcher, wake: wake, logger: logger)
    }
}
