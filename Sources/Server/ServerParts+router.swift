import Access
import Alerting
import Attempts
import Delivery
import HTTPClient
import HTTPServer
import LiveActivities
import Logging
import OnCall
import Postgres
import PushContract
import ServiceKit

extension ServerParts {
    /// The API, and at a listener for everyone the pages too. Needs the database.
    func router(for audience: ListenerConfiguration.Audience) async throws -> HTTPRouter {
        guard configuration.roles.contains(.api) else { return healthRouter(for: audience) }
        let keys = KeyAuthenticator(
            store: APIKeyStore(pools.ingest),
            bootstrap: try configuration.bootstrapKey.map { try BootstrapKey($0) },
            logger: logger
        )
        let sessions = Sessions(
            keys: keys,
            pool: pools.ingest,
            readers: pools.readers,
            isSecure: configuration.externalURL.hasPrefix("https:"),
            limits: configuration.sessionLimits
        )
        let authenticator = AccessAuthenticator(keys: keys, users: userTokens, sessions: sessions)
        let router = HTTPRouter(
            authentication: AuthenticationMiddleware(authenticator, signInPath: OnCallRoutes.signInPath),
            // Not at the callers' listener.
            proxy: audience == .everyone ? configuration.proxySignIn : nil,
            translate: ErrorTranslation.problem
        )
        healthRoutes(for: audience).add(to: router)
        AttemptRoutes(
            ingestor: attempts.ingestor,
            store: AttemptStore(pools.readers),
            checkStore: AttemptStore(pools.ingest),
            labels: attempts.labels
        ).add(to: router)
        DeviceRoutes(store: sending.devices, defaults: providers.deviceDefaults).add(to: router)
        let (sends, wake) = (sending.sends, sending.wake)
        let dryRun = DryRun(store: sends, check: sending.check, lookup: providers.lookup)
        SendRoutes(store: sends, enqueueService: sending.enqueueService, dryRun: dryRun).add(to: router)
        OutcomeRoutes(stream: OutcomeStream(pool: pools.ingest)).add(to: router)
        live.addRoutes(to: router)
        AudienceRoutes(store: AudienceStore(pool: pools.ingest)).add(to: router)
        MatchRoutes(store: matches).add(to: router)
        guard audience == .everyone else { return router }
        OutcomeWebhookRoutes(store: OutcomeWebhookStore(pool: pools.ingest)).add(to: router)
        DeadLetterRoutes(store: sends, wake: wake).add(to: router)
        ThrottleRoutes(store: ThrottleStore(pool: pools.ingest)).add(to: router)
        CircuitRoutes(store: sends, wake: wake).add(to: router)
        DeactivationLimiterRoutes(store: sends.deactivationLimiters).add(to: router)
        AlertRoutes(pool: pools.readers, rules: alerts.rules, receivers: alerts.receivers).add(to: router)
        try pages(sessions).add(to: router)
        return router
    }

    /// Before the database is there.
    func startingRouter(for audience: ListenerConfiguration.Audience) -> HTTPRouter {
        healthRouter(for: audience) { $0.add(middleware: StartupMiddleware()) }
    }

    /// Only health and metrics: before the database is there, and on instances that do not serve the API.
    private func healthRouter(for audience: ListenerConfiguration.Audience, _ prepare: (HTTPRouter) -> Void = { _ in }) -> HTTPRouter {
        let router = HTTPRouter(translate: ErrorTranslation.problem)
        prepare(router)
        healthRoutes(for: audience).add(to: router)
        return router
    }

    private func healthRoutes(for audience: ListenerConfiguration.Audience) -> HealthRoutes {
        HealthRoutes(
            health: health,
            metrics: metrics,
            metricsOpen: configuration.metricsOpen,
            showsMetrics: audience == .everyone
        )
    }

    private func pages(_ sessions: Sessions) throws -> OnCallRoutes {
        let site = OnCallSite(
            pool: pools.readers,
            rules: alerts.rules,
            receivers: alerts.receivers,
            backtests: alerts.backtests,
            sends: sending.store(pools.readers),
            throttles: ThrottleStore(pool: pools.readers),
            credentials: credentials,
            runbooks: RunbookDirectory(alertsDirectory: configuration.alertsDirectory),
            sessions: sessions,
            clock: pageClock
        )
        let replica = database.replica.map { watch in
            OnCallRoutes.Replica(
                site: site.reading(from: watch.pool, sends: sending.store(watch.pool), throttles: ThrottleStore(pool: watch.pool)),
                watch: watch
            )
        }
        return try OnCallRoutes(site, replica: replica)
    }

    private var credentials: CredentialChecker {
        // Each check opens connections to the providers.
        let checks = SharedWork<[CredentialCheck.Verdict]>()
        return CredentialChecker(
            states: { [providers] in providers.states(now: .now()) },
            check: { [configuration, logger] in
                let verdicts: [CredentialCheck.Verdict]
                do {
                    verdicts = try await checks.value {
                        try await CredentialCheck.run(configuration, app: CredentialCheck.usualApp, logger: logger)
                    }
                } catch let error as ConfigurationError {
                    // Callers who may check credentials may see which file is at fault, and what to change in it.
                    throw Problem.unavailable(error.description, retryAfter: .seconds(10))
                }
                return verdicts.map { verdict in
                    CredentialCheckResult(
                        name: verdict.credential,
                        environment: verdict.environment.rawValue,
                        state: verdict.state.rawValue,
                        detail: verdict.detail,
                        keyAgeDays: verdict.keyAgeDays,
                        clockAheadSeconds: verdict.clockAheadSeconds
                    )
                }
            }
        )
    }
}

extension ServerConfiguration {
    /// Verifies app users' tokens; nil where none are accepted.
    func userTokens(client: CurlClient, logger: Logger) throws -> UserTokenVerifier? {
        guard let users else { return nil }
        let loader =
            try users.jwks.hasPrefix("https:") ? JWKSEndpoint.loader(url: users.jwks, client: client) : JWKSFile.loader(path: users.jwks)
        return UserTokenVerifier(issuer: users.issuer, audience: users.audience, logger: logger, load: loader)
    }
}
