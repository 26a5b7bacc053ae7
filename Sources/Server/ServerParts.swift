import Access
import Attempts
import HTTPClient
import HTTPServer
import Logging
import PushContract

/// Everything the service consists of, wired. Each part is made of those before it, which its parameters name.
struct ServerParts: Sendable {
    let configuration: ServerConfiguration
    let metrics: MetricsRegistry
    let health = Health()
    let logger: Logger
    let pageClock: @Sendable () -> Timestamp
    let database: DatabaseParts
    let attempts: AttemptParts
    let providers: ProviderRegistry
    let sending: SendParts
    let live: LiveParts
    let alerts: AlertParts
    /// To alert receivers, score feeds and issuers' key sets; each provider has a client of its own.
    let http: CurlClient
    /// Nil where no app users are accepted.
    let userTokens: UserTokenVerifier?

    var pools: DatabasePools { database.pools }

    init(
        _ configuration: ServerConfiguration,
        alerts: AlertParts,
        metrics: MetricsRegistry,
        hooks: PushwatchServer.Hooks,
        logger: Logger
    ) throws {
        self.configuration = configuration
        self.metrics = metrics
        self.logger = logger
        pageClock = hooks.pageClock
        database = DatabaseParts(configuration, logger: logger)
        attempts = AttemptParts(configuration, database: database, logger: logger)
        providers = try ProviderRegistry(configuration, logger: logger)
        attempts.labels.keep(apps: providers.apps)
        sending = try SendParts(configuration, pools: database.pools, attempts: attempts, providers: providers, logger: logger)
        live = try LiveParts(
            configuration,
            pools: database.pools,
            attempts: attempts,
            cipher: sending.cipher,
            lookup: providers.lookup,
            queueWake: sending.wake,
            logger: logger
        )
        self.alerts = alerts
        var outbound = CurlClientConfiguration()
        outbound.pool = "receivers"
        outbound.maxConnections = configuration.receiverConnections
        http = CurlClient(configuration: outbound)
        userTokens = try configuration.userTokens(client: http, logger: logger)
        try requireReceivers()
        addChecks()
    }
}
