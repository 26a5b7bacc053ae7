import Access
package import Alerting
import Attempts
import Delivery
import Foundation
import HTTPClient
import HTTPServer
import Hummingbird
import LiveActivities
import Logging
import NIOCore
import Postgres
import PushContract
import ServiceKit
import ServiceLifecycle

/// Everything the service consists of, wired. Built once; reading it top to bottom is the architecture.
struct ServerParts: Sendable {
    let configuration: ServerConfiguration
    let metrics: MetricsRegistry
    let health = Health()
    let logger: Logger
    let pools: DatabasePools
    let heartbeat: DatabaseHeartbeat
    /// Nil without a replica to read pages and backtests from.
    let replica: ReplicaWatch?
    let admin: PostgresPool
    /// To alert receivers and issuers' key sets; each provider has a client of its own.
    let http: CurlClient
    /// Nil where no app users are accepted.
    let userTokens: UserTokenVerifier?
    let labels: LabelLimiter
    let maintenance: PartitionMaintenance
    private let ledger: FrozenLedger
    let ingestor: AttemptIngestor
    /// What this process has not written yet, of whatever origin.
    let uncommitted = UncommittedOutcomes()
    /// For callers' requests.
    let sends: SendStore
    /// The same on connections of another class.
    let sendsUsing: @Sendable (PostgresPool) -> SendStore
    let devices: DeviceStore
    let wake = WakeSignal()
    /// Nil where this process does not send.
    let dispatcher: SendDispatcher?
    /// Of what callers send.
    let enqueueService: EnqueueService
    let providers: ProviderRegistry
    let rules: RuleRegistry
    let backtests = BacktestCache()
    let receivers: ReceiverRegistry
    let live: LiveParts
    let pageClock: @Sendable () -> Timestamp

    init(_ configuration: ServerConfiguration, metrics: MetricsRegistry, hooks: PushwatchServer.Hooks, logger: Logger) throws {
        self.configuration = configuration
        self.metrics = metrics
        self.logger = logger
        pageClock = hooks.pageClock
        pools = DatabasePools(
            url: configuration.databaseURL,
            readersURL: configuration.readersURL,
            total: configuration.databaseConnections,
            preparesStatements: configuration.preparesStatements,
            logger: logger
        )
        heartbeat = DatabaseHeartbeat(pool: pools.health, writers: pools.ingest, logger: logger)
        replica = pools.replica.map { [pools] in
            ReplicaWatch(pool: $0, primary: pools.readers, mostLag: configuration.readersLag, logger: logger)
        }
        admin = DatabasePools.admin(
            configuration.postgres(configuration.adminDatabaseURL, applicationName: "pushwatch admin"),
            logger: logger
        )
        var toReceivers = CurlClientConfiguration()
        toReceivers.pool = "receivers"
        toReceivers.maxConnections = configuration.receiverConnections
        http = CurlClient(configuration: toReceivers)
        userTokens = try configuration.userTokens(client: http, logger: logger)
        let hints = LedgerHints()
        maintenance = PartitionMaintenance(pool: admin, plan: configuration.partitionPlan, logger: logger)
        ledger = FrozenLedger(pool: pools.ingest, hints: hints, limits: configuration.ledgerFilters, logger: logger)
        ingestor = AttemptIngestor(
            pool: pools.ingest,
            maintenance: maintenance,
            hints: hints,
            uncommitted: uncommitted,
            logger: logger
        )
        labels = LabelLimiter(limits: configuration.labelLimits)
        let record = AttemptRecording.recorder(slot: Int16.random(in: 256..<512), hints: hints, labels: labels, logger: logger)
        let cipher = try configuration.tokenCipher()
        let feedbackWriter = TokenFeedbackWriter(limits: configuration.deactivationLimiter)
        sendsUsing = { pool in
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
        sends = sendsUsing(pools.ingest)
        devices = DeviceStore(
            pool: pools.ingest,
            cipher: cipher,
            record: record,
            onRemoval: ActivityRemovals.end,
            onErasure: ActivityRemovals.erase,
            limit: configuration.devicesPerUser
        )
        providers = try ProviderRegistry(configuration, logger: logger)
        labels.keep(apps: providers.apps)
        var dispatching = DispatcherConfiguration()
        if let base = configuration.sendRetryBase { dispatching.delays = .quick(base) }
        dispatcher =
            if configuration.roles.contains(.send) {
                SendDispatcher(
                    store: sendsUsing(pools.sending),
                    throttles: ThrottleStore(pool: pools.sending),
                    lookup: providers.lookup,
                    configuration: dispatching,
                    wake: wake,
                    uncommitted: uncommitted,
                    logger: logger
                )
            } else {
                nil
            }
        enqueueService = EnqueueService(
            store: sends,
            check: SendValidation.checker(providers.lookup, texts: configuration.texts),
            dispatcher: dispatcher,
            wake: wake,
            logger: logger
        )
        live = try LiveParts(
            configuration,
            pools: pools,
            cipher: cipher,
            uncommitted: uncommitted,
            record: record,
            lookup: providers.lookup,
            queueWake: wake,
            logger: logger
        )
        rules = RuleRegistry(directory: configuration.alertsDirectory, logger: logger)
        receivers = ReceiverRegistry(
            fixed: configuration.receivers + hooks.receivers,
            file: configuration.alertsDirectory + "/receivers.yml",
            environment: ProcessInfo.processInfo.environment,
            logger: logger
        )
        try requireReceivers()
        addChecks()
    }

    /// In the order of starting; shutdown goes the other way, so the listener stops first and the database last.
    func services(hooks: PushwatchServer.Hooks) throws -> [any Service] {
        let listeners = configuration.listeners.map { ($0, GatedResponder(starting: startingRouter(for: $0.audience).buildResponder())) }
        let gate = DatabaseGate(
            check: DatabaseCheck(configuration: configuration, logger: logger),
            migrator: Migrator(
                configuration: configuration.postgres(configuration.adminDatabaseURL, applicationName: "pushwatch migrate"),
                directory: configuration.migrationsDirectory,
                logger: logger
            ),
            maintenance: maintenance,
            health: health,
            heartbeat: heartbeat,
            migrates: hooks.migrates,
            logger: logger
        ) {
            try await heartbeat.beat()
            try await admitTokenKeys()
            let engine = try await DatabaseEngine.read(on: admin)
            ingestor.adapt(to: engine)
            logger.notice("connected to the database", metadata: ["engine": "\(engine)"])
            warnOfNoReceivers()
            for (listener, responder) in listeners {
                let router = try await router(for: listener.audience)
                if listener.audience == .everyone { hooks.routes(router) }
                responder.open(router.buildResponder())
            }
        }
        var services: [any Service] = pools.all + [admin, gate]
        services += working().map { DatabaseDependentService(gate: gate, service: $0) }
        services.append(
            ListenerService(
                listeners: try listeners.map { try listener($0, $1, onListening: hooks.onListening) },
                shutdownLimit: configuration.httpShutdownLimit
            )
        )
        services += hooks.extraServices.map { DatabaseDependentService(gate: gate, service: $0) }
        services.append(DrainSignal(health: health, duration: configuration.httpDrain, logger: logger))
        return services
    }

    private func working() -> [any Service] {
        // Near the start, so that it ends after what it reports of.
        let reporter = InstanceReporter(store: InstanceStore(pool: pools.ingest), logger: logger, report: instance())
        var services: [any Service] = [heartbeat, reporter, maintenance, AnalystWatchdog(pool: admin, logger: logger)]
        if configuration.roles.contains(.api) {
            if let replica { services.append(replica) }
            services += [ingestor, enqueueService, DeviceSweeper(store: devices, logger: logger)]
            services.append(
                BacktestRefresher(
                    pool: pools.alerting,
                    replica: replica,
                    rules: rules,
                    backtestCache: backtests,
                    lag: configuration.alertsLag,
                    logger: logger
                )
            )
            if let userTokens {
                services.append(
                    PeriodicService("keys of users", every: .seconds(30), logger: logger) { try await userTokens.keep(now: .now()) }
                )
            }
            if let keySet = configuration.tokenKeys {
                services.append(TokenEncryptionBackfill(pool: pools.sending, keySet: keySet, logger: logger))
            }
        }
        if let dispatcher {
            if !configuration.outcomeWebhooks.isEmpty { services.append(outcomeWebhooks()) }
            let sends = sendsUsing(pools.sending)
            services += [
                dispatcher, QueueMaintenance(store: sends, logger: logger), FanOutService(store: sends, wake: wake, logger: logger),
            ]
        }
        if !configuration.roles.isDisjoint(with: [.api, .send, .live]) {
            services.append(providers)
            services.append(ledger)
            services.append(WriterHeartbeat(pool: pools.ingest, uncommitted: uncommitted, labels: labels, logger: logger))
            services.append(keptApps())
        }
        if configuration.roles.contains(.alert) { services += alerting() }
        if configuration.roles.contains(.live) { services += [live.service, scoreFeeds()] + prematchAlerts() }
        return services
    }

    /// Counts apart what has a credential here or has long been sending, however many names are synthetic.
    private func keptApps() -> PeriodicService<Void> {
        PeriodicService("apps counted apart", every: .seconds(600), retryInterval: .seconds(10), logger: logger) {
            [labels, providers, pools, limit = configuration.labelLimits.apps] in
            let usual = try await UsualApps.read(limit: limit, before: .now(), on: pools.alerting)
            labels.keep(apps: providers.apps.union(usual))
        }
    }

    /// What this process is, as it reports it.
    private func instance() -> @Sendable () -> Instance {
        let process = ProcessInfo.processInfo
        let host = "\(process.hostName):\(process.processIdentifier)"
        let startedAt = Timestamp.now()
        return { [providers, configuration, heartbeat, live, dispatcher] in
            let accepted = live.service.lastAccepted().merging(dispatcher?.lastAccepted() ?? [:]) { max($0, $1) }
            return Instance(
                instance: heartbeat.instance,
                host: host,
                version: configuration.version,
                startedAt: startedAt,
                roles: configuration.roles.map(\.rawValue).sorted(),
                credentials: providers.reported(accepted: accepted),
                tokenKeys: configuration.tokenKeys?.ids ?? [],
                seenAt: .now()
            )
        }
    }

    private func outcomeWebhooks() -> OutcomeWebhookSender {
        OutcomeWebhookSender(
            configuration.outcomeWebhooks,
            pool: pools.sending,
            holder: heartbeat.instance,
            logger: logger,
            send: { [http] in try await http.send($0) }
        )
    }
}

extension ServerConfiguration {
    /// Receivers named in the settings; more come from alerts/receivers.yml.
    package var receivers: [ReceiverConfiguration] {
        webhookURL.map { [.webhook("webhook", url: $0, secret: webhookSecret), .log] } ?? [.log]
    }

    /// Where links lead.
    package var externalURL: String { publicURL ?? listeners.last?.url(port: nil) ?? "" }
}
