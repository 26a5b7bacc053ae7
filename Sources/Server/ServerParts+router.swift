import Access
import Alerting
import Attempts
import Delivery
import HTTPServer
import LiveActivities
import Logging
import OnCall
import PushContract

extension ServerParts {
    /// The API, and for everybody the pages too. Needs the database: sessions are signed with a secret that all instances share.
    func router(for audience: Door.Audience) async throws -> EdgeRouter {
        guard configuration.roles.contains(.api) else { return healthRouter(for: audience) }
        let keys = KeyAuthenticator(
            store: APIKeyStore(pool),
            bootstrap: try configuration.bootstrapKey.map { try BootstrapKey($0) },
            logger: logger
        )
        let secret = try await ServerSecretStore(pool).secret(named: "sessions")
        let cookie = SessionCookie(secret: secret, isSecure: configuration.externalURL.hasPrefix("https:"))
        let authenticator = AccessAuthenticator(keys: keys, users: try userTokens(), sessions: cookie)
        var open = OnCallRoutes.openPaths.union(["/health", "/health/ready"])
        if configuration.metricsOpen { open.insert("/metrics") }
        let router = EdgeRouter(
            authentication: AuthenticationMiddleware(authenticator, open: open, signInPath: OnCallRoutes.signInPath),
            // Only where people come in.
            proxy: audience == .everybody ? configuration.proxySignIn : nil,
            translate: ErrorTranslation.problem
        )
        healthRoutes(for: audience).add(to: router)
        AttemptRoutes(ingestor: ingestor, store: AttemptStore(pool)).add(to: router)
        DeviceRoutes(store: devices).add(to: router)
        SendRoutes(store: sends, check: SendValidation.checker(providers.lookup), wake: wake).add(to: router)
        live.addRoutes(to: router)
        guard audience == .everybody else { return router }
        let audit = AuditLog(pool).trail
        AudienceRoutes(store: AudienceStore(pool: pool)).add(to: router)
        DeadLetterRoutes(store: sends, wake: wake, audit: audit).add(to: router)
        ThrottleRoutes(store: throttles, audit: audit).add(to: router)
        MatchRoutes(store: matches).add(to: router)
        HoldRoutes(store: sends, wake: wake, audit: audit).add(to: router)
        TokenBreakerRoutes(store: sends.tokenBreakers, audit: audit).add(to: router)
        AlertRoutes(pool: pool, rules: rules, receivers: receivers, audit: audit).add(to: router)
        let signIn = SignIn(keys: keys, cookie: cookie, tickets: SignInTicket(secret: secret, session: pool))
        try pages(signIn, cookie: cookie).add(to: router)
        return router
    }

    /// Before the database is there.
    func startingRouter(for audience: Door.Audience) -> EdgeRouter {
        healthRouter(for: audience) { $0.add(middleware: StartingUp()) }
    }

    /// Only health and metrics: before the database is there, and on instances that do not serve the API.
    private func healthRouter(for audience: Door.Audience, _ prepare: (EdgeRouter) -> Void = { _ in }) -> EdgeRouter {
        let router = EdgeRouter(translate: ErrorTranslation.problem)
        prepare(router)
        healthRoutes(for: audience).add(to: router)
        return router
    }

    private func healthRoutes(for audience: Door.Audience) -> HealthRoutes {
        HealthRoutes(
            health: health,
            metrics: metrics,
            metricsOpen: configuration.metricsOpen,
            showsMetrics: audience == .everybody
        )
    }

    private func pages(_ signIn: SignIn, cookie: SessionCookie) throws -> OnCallRoutes {
        let runbooks = RunbookShelf(alertsDirectory: configuration.alertsDirectory)
        let rulesStore = RulesStore(pool: pool, rules: rules, receivers: receivers, backtests: backtests)
        return try OnCallRoutes(
            now: NowStore(pool: pool, rules: rules, receivers: receivers, backlog: sends.backlog, throttles: throttles.current),
            alerts: AlertStore(pool: pool, rules: rules, runbooks: runbooks),
            people: PersonStore(pool: pool),
            rules: rulesStore,
            deliveries: DeliveriesStore(pool: pool),
            matches: MatchesStore(pool: pool),
            watch: WatchStore(
                pool: pool,
                rules: rulesStore,
                credentials: credentials,
                holds: sends.holds,
                breakers: sends.tokenBreakers.open
            ),
            credentials: credentials,
            actions: OnCallActions(pool: pool, throttles: throttles),
            runbooks: runbooks,
            desk: SignInDesk(signIn, cookie: cookie),
            clock: pageClock
        )
    }

    private var credentials: CredentialDesk {
        CredentialDesk(
            states: { [providers] in providers.states(now: .now()) },
            check: { [configuration, logger] in
                try await CredentialProbe.run(configuration, app: CredentialProbe.usualApp, now: .now(), logger: logger).map { verdict in
                    CredentialTrial(
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

    private func userTokens() throws -> UserTokenVerifier? {
        guard let users = configuration.users else { return nil }
        let loader =
            try users.jwks.hasPrefix("https:") ? JWKSEndpoint.loader(url: users.jwks, client: http) : JWKSFile.loader(path: users.jwks)
        return UserTokenVerifier(issuer: users.issuer, audience: users.audience ?? "pushwatch", logger: logger, load: loader)
    }
}
