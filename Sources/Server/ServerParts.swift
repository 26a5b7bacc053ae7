import Access
package import Alerting
import Attempts
import HTTPClient
import Delivery
import Foundation
import HTTPServer
import Hummingbird
import LiveActivities
import Logging
import NIOCore
import Postgres
import PushContract
package import ServiceKit
import ServiceLifecycle

/// Everything the service consists of, wired. Built once; reading it top to bottom is the architecture.
struct ServerParts: Sendable {
    let configuration: ServerConfiguration
    let metrics: MetricsRegistry
    let health = Health()
    let logger: Logger
    let pool: PostgresPool
    let admin: PostgresPool
    /// To alert receivers and issuers' key sets; each provider has a client of its own.
    let http: CurlClient
    let keeper: PartitionKeeper
    let ingestor: AttemptIngestor
    /// What this process has not written yet, of whatever origin.
    let uncommitted = UncommittedOutcomes()
    let sends: SendStore
    let throttles: ThrottleStore
    let devices: DeviceStore
    let wake = WakeSignal()
    let providers: ProviderBook
    let rules: RuleBook
    let backtests = BacktestShelf()
    let receivers: ReceiverBook
    let live: LiveParts
    let pageClock: @Sendable () -> Timestamp

    init(_ configuration: ServerConfiguration, metrics: MetricsRegistry, hooks: PushwatchServer.Hooks, logger: Logger) throws {
        self.configuration = configuration
        self.metrics = metrics
        self.logger = logger
        pageClock = hooks.pageClock
        pool = PostgresPool(
            configuration: PostgresConfiguration(url: configuration.databaseURL, maxConnections: configuration.databaseConnections),
            logger: logger
        )
        admin = PostgresPool(
            configuration: PostgresConfiguration(
                url: configuration.adminDatabaseURL,
                maxConnections: 2,
                applicationName: "pushwatch admin"
            ),
            logger: logger
        )
        var toReceivers = CurlClientConfiguration()
        toReceivers.pool = "receivers"
        http = CurlClient(configuration: toReceivers, logger: logger)
        keeper = PartitionKeeper(pool: admin, plan: configuration.partitionPlan, logger: logger)
        ingestor = AttemptIngestor(pool: pool, keeper: keeper, uncommitted: uncommitted, logger: logger)
        let record = AttemptRecording.recorder(slot: Int16.random(in: 256..<512), logger: logger)
        let vault = try configuration.tokenVault()
        sends = SendStore(pool: pool, vault: vault, tokenGuard: TokenGuard(limits: configuration.tokenBreaker), record: record)
        throttles = ThrottleStore(pool: pool)
        devices = DeviceStore(pool: pool, vault: vault, record: record, onDeparture: ActivityDepartures.end)
        providers = try ProviderBook(configuration, logger: logger)
        live = try LiveParts(
            configuration,
            pool: pool,
            vault: vault,
            uncommitted: uncommitted,
            record: record,
            lookup: providers.lookup,
            logger: logger
        )
        rules = RuleBook(directory: configuration.alertsDirectory, logger: logger)
        receivers = ReceiverBook(
            fixed: configuration.receivers + hooks.receivers,
            file: configuration.alertsDirectory + "/receivers.yml",
            environment: ProcessInfo.processInfo.environment,
            logger: logger
        )
        health.addCheck("database") { [pool] in
            try await pool.ping()
            return .well
        }
        health.addCheck("credentials", isRequired: false) { [providers] in
            providers.fault == nil ? .well : .failing("a changed credential file cannot be used; the old credentials are in force")
        }
        health.addCheck("sending", isRequired: false) { [sends] in
            if let breaker = try await sends.tokenBreakers.open().first {
                return .failing("\(breaker.place.provider) refuses too many tokens of \(breaker.place.app): pushwatch sends token-breakers")
            }
            guard let hold = try await sends.holds().first else { return .well }
            return .failing(
                "\(hold.scope.provider) refuses the credential of \(hold.scope.app) (\(hold.cause)); its sends are held: pushwatch sends holds"
            )
        }
        health.addCheck("rules", isRequired: false) { [rules] in
            rules.refresh()
            return rules.isBroken ? .failing("a rule file is broken; the last good rules are in force") : .well
        }
        health.addCheck("receivers", isRequired: false) { [receivers] in
            receivers.refresh()
            return receivers.fault == nil ? .well : .failing("alerts/receivers.yml is broken; the last good receivers are in force")
        }
    }

    /// In the order of starting; shutdown goes the other way, so the listener stops first and the database last.
    func services(hooks: PushwatchServer.Hooks) throws -> [any Service] {
        let doors = configuration.doors.map { ($0, GatedResponder(starting: startingRouter(for: $0.audience).buildResponder())) }
        let gate = DatabaseGate(
            pool: pool,
            migrator: Migrator(
                configuration: PostgresConfiguration(
                    url: configuration.adminDatabaseURL,
                    maxConnections: 1,
                    applicationName: "pushwatch migrate"
                ),
                directory: configuration.migrationsDirectory,
                logger: logger
            ),
            keeper: keeper,
            health: health,
            migrates: hooks.migrates,
            logger: logger
        ) {
            try await admitTokenKeys()
            for (door, responder) in doors {
                let router = try await router(for: door.audience)
                if door.audience == .everybody { hooks.routes(router) }
                responder.open(router.buildResponder())
            }
        }
        var services: [any Service] = [pool, admin, gate]
        services += working().map { AfterDatabase(gate: gate, service: $0) }
        services += try doors.map { try listener($0, $1, onListening: hooks.onListening) }
        services += hooks.companions.map { AfterDatabase(gate: gate, service: $0) }
        services.append(DrainSignal(health: health))
        return services
    }

    private func working() -> [any Service] {
        var services: [any Service] = [keeper, AnalystWatchdog(pool: admin, logger: logger)]
        if configuration.roles.contains(.api) {
            services += [ingestor, DeviceSweeper(store: devices, logger: logger)]
            services.append(BacktestKeeper(pool: pool, rules: rules, shelf: backtests, lag: configuration.alertsLag, logger: logger))
            if let ring = configuration.tokenKeys { services.append(TokenSealer(pool: pool, ring: ring, logger: logger)) }
        }
        // Whoever pushes reads changed credentials.
        if !configuration.roles.isDisjoint(with: [.send, .live]) { services.append(providers) }
        if configuration.roles.contains(.send) { services += sending() }
        if !configuration.roles.isDisjoint(with: [.api, .send, .live]) {
            services.append(WriterHeartbeat(pool: pool, uncommitted: uncommitted, logger: logger))
        }
        if configuration.roles.contains(.alert) { services += alerting() }
        if configuration.roles.contains(.live) { services += [live.service] + scoreFeeds() }
        return services
    }

    private func sending() -> [any Service] {
        var dispatching = DispatcherConfiguration()
        if let base = configuration.sendRetryBase { dispatching.delays = .quick(base) }
        let dispatcher = SendDispatcher(
            store: sends,
            throttles: throttles,
            sender: ProviderSender(lookup: providers.lookup),
            configuration: dispatching,
            wake: wake,
            uncommitted: uncommitted,
            logger: logger
        )
        return [dispatcher, QueueKeeper(store: sends, logger: logger)]
    }

    private func alerting() -> [any Service] {
        let toReceivers: AlertHTTP = { [http] in try await http.send($0) }
        var evaluating = EvaluatorConfiguration()
        evaluating.lag = configuration.alertsLag
        let evaluator = RuleEvaluator(
            pool: pool,
            rules: rules,
            receivers: receivers,
            configuration: evaluating,
            backlog: sends.backlogNumbers,
            sampling: sends.backlogSamples,
            holds: sends.holdSamples,
            logger: logger
        )
        let courier = AlertCourier(
            pool: pool,
            receivers: receivers,
            configuration: CourierConfiguration(externalURL: configuration.externalURL),
            logger: logger,
            send: toReceivers
        )
        let keeper = AlertmanagerKeeper(
            pool: pool,
            receivers: receivers,
            externalURL: configuration.externalURL,
            logger: logger,
            send: toReceivers
        )
        guard let url = configuration.alertsHeartbeatURL else { return [evaluator, courier, keeper] }
        return [evaluator, courier, keeper, DeadMansSwitch(url: url, pool: pool, evaluator: evaluator, logger: logger, send: toReceivers)]
    }
}

extension ServerConfiguration {
    /// Receivers named in the settings; more come from alerts/receivers.yml.
    package var receivers: [ReceiverConfiguration] {
        webhookURL.map { [.webhook("webhook", url: $0, secret: webhookSecret), .log] } ?? [.log]
    }

    /// Where links lead.
    package var externalURL: String { publicURL ?? doors.last?.url(port: nil) ?? "" }
}
