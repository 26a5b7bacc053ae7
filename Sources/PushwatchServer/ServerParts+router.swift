import Access
import Alerting
import Attempts
import Devices
import HTTPEdge
import Logging
import OnCall
import PushContract
import Sending

extension ServerParts {
    /// The whole API and the pages. Needs the database: sessions are signed with a secret that all instances share.
    func router() async throws -> EdgeRouter {
        guard configuration.roles.contains(.api) else { return healthRouter() }
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
            translate: ErrorTranslation.problem
        )
        HealthRoutes(health: health, metrics: metrics, metricsOpen: configuration.metricsOpen).add(to: router)
        AttemptRoutes(ingestor: ingestor, store: AttemptStore(pool)).add(to: router)
        DeviceRoutes(store: devices).add(to: router)
        SendRoutes(store: sends, check: SendValidation.checker(providers.lookup), wake: wake).add(to: router)
        ThrottleRoutes(store: throttles).add(to: router)
        AlertRoutes(pool: pool, rules: rules, receivers: receivers).add(to: router)
        let signIn = SignIn(keys: keys, cookie: cookie, tickets: SignInTicket(secret: secret, session: pool))
        try pages(signIn, cookie: cookie).add(to: router)
        return router
    }

    private func pages(_ signIn: SignIn, cookie: SessionCookie) throws -> OnCallRoutes {
        let runbooks = RunbookShelf(alertsDirectory: configuration.alertsDirectory)
        return try OnCallRoutes(
            now: NowStore(pool: pool, rules: rules, backlog: sends.backlog, throttles: throttles.current),
            alerts: AlertStore(pool: pool, rules: rules, runbooks: runbooks),
            runbooks: runbooks,
            desk: SignInDesk(signIn, cookie: cookie)
        )
    }

    private func userTokens() throws -> UserTokenVerifier? {
        guard let users = configuration.users else { return nil }
        let loader =
            try users.jwks.hasPrefix("https:") ? JWKSEndpoint.loader(url: users.jwks, client: http) : JWKSFile.loader(path: users.jwks)
        return UserTokenVerifier(issuer: users.issuer, audience: users.audience ?? "pushwatch", logger: logger, load: loader)
    }
}
