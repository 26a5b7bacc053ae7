import Access
import Alerting
import Attempts
import Delivery
import Foundation
import HTTPClient
import HTTPServer
import Hummingbird
import LiveActivities
import Logging
import Postgres
import PushContract
import ServiceKit
import ServiceLifecycle

extension ServerParts {
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
            maintenance: database.maintenance,
            health: health,
            heartbeat: database.heartbeat,
            migrates: hooks.migrates,
            logger: logger
        ) {
            try await database.heartbeat.beat()
            try await admitTokenKeys()
            let engine = try await DatabaseEngine.read(on: database.admin)
            attempts.ingestor.adapt(to: engine)
            logger.notice("connected to the database", metadata: ["engine": "\(engine)"])
            warnOfNoReceivers()
            for (listener, responder) in listeners {
                let router = try await router(for: listener.audience)
                if listener.audience == .everyone { hooks.routes(router) }
                responder.open(router.buildResponder())
            }
        }
        var services: [any Service] = pools.all + [database.admin, gate]
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
        var services: [any Service] = [
            database.heartbeat, reporter, database.maintenance, AnalystWatchdog(pool: database.admin, logger: logger),
        ]
        let roles = configuration.roles
        if roles.contains(.api) { services += receiving() }
        if let dispatcher = sending.dispatcher { services += delivering(dispatcher) }
        if !roles.isDisjoint(with: [.api, .send, .live]) { services += writing() }
        if roles.contains(.alert) { services += alerting() }
        if roles.contains(.live) { services += [live.service, scoreFeeds()] + prematchAlerts() }
        return services
    }

    /// What a process with the role `api` runs.
    private func receiving() -> [any Service] {
        var services: [any Service] = []
        if let replica = database.replica { services.append(replica) }
        services += [attempts.ingestor, sending.enqueueService, DeviceSweeper(store: sending.devices, logger: logger)]
        services.append(
            BacktestRefresher(
                pool: pools.history,
                replica: database.replica,
                rules: alerts.rules,
                backtestCache: alerts.backtests,
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
        return services
    }

    /// What a process with the role `send` runs.
    private func delivering(_ dispatcher: SendDispatcher) -> [any Service] {
        let sends = sending.store(pools.sending)
        var services: [any Service] = configuration.outcomeWebhooks.isEmpty ? [] : [outcomeWebhooks()]
        services += [
            dispatcher, QueueMaintenance(store: sends, logger: logger), FanOutService(store: sends, wake: sending.wake, logger: logger),
        ]
        return services
    }

    /// What a process that writes attempts runs.
    private func writing() -> [any Service] {
        let heartbeat = WriterHeartbeat(pool: pools.ingest, uncommitted: attempts.uncommitted, labels: attempts.labels, logger: logger)
        return [providers, attempts.ledger, heartbeat, keptApps()]
    }

    /// Counts apart what has a credential here or has long been sending, however many names are synthetic.
    private func keptApps() -> PeriodicService<Void> {
        PeriodicService("apps counted apart", every: .seconds(600), retryInterval: .seconds(10), logger: logger) {
            [labels = attempts.labels, providers, pools, limit = configuration.labelLimits.apps] in
            let usual = try await UsualApps.read(limit: limit, before: .now(), on: pools.history)
            labels.keep(apps: providers.apps.union(usual))
        }
    }

    /// What this process is, as it reports it.
    private func instance() -> @Sendable () -> Instance {
        let process = ProcessInfo.processInfo
        let host = "\(process.hostName):\(process.processIdentifier)"
        let startedAt = Timestamp.now()
        return { [providers, configuration, heartbeat = database.heartbeat, live, dispatcher = sending.dispatcher] in
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
            holder: database.heartbeat.instance,
            logger: logger,
            send: { [http] in try await http.send($0) }
        )
    }
}
