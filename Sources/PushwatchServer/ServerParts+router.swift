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
        let keys = KeyAuthenticator(
            store: APIKeyStore(pool),
            bootstrap: try configuration.bootstrapKey.map { try BootstrapKey($0) },
            logger: logger
        )
        let secret = try await ServerSecretStore(pool).secret(named: "sessions")
        let cookie = SessionCookie(secret: secret, isSecure: configuration.externalURL.hasPrefix("https:"))
        let authenticator = AccessAuthenticator(keys: keys, users: userTokens(), sessions: cookie)
        var open: Set<String> = ["/health", "/health/ready"]
        if configuration.metricsOpen { open.insert("/metrics") }
        let router = EdgeRouter(
            authentication: AuthenticationMiddleware(authenticator, open: open, signInPath: "/sign-in"),
            translate: ErrorTranslation.problem
        )
        HealthRoutes(health: health, metrics: metrics, metricsOpen: configuration.metricsOpen).add(to: router)
        AttemptRoutes(ingestor: ingestor, store: AttemptStore(pool)).add(to: router)
        DeviceRoutes(store: devices).add(to: router)
        SendRoutes(store: sends, check: senders.problem, wake: wake).add(to: router)
        ThrottleRoutes(store: throttles).add(to: router)
        AlertRoutes(pool: pool, rules: rules, receivers: receivers).add(to: router)
        return router
    }

    private func userTokens() -> UserTokenVerifier? {
        guard let users = configuration.users else { return nil }
        let loader = users.jwks.hasPrefix("http") ? http.loader(url: users.jwks) : JWKSFile.loader(path: users.jwks)
        return UserTokenVerifier(issuer: users.issuer, audience: users.audience ?? "pushwatch", logger: logger, load: loader)
    }
}
