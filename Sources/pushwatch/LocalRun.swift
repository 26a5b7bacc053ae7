import Access
import Alerting
import HTTPClient
import Foundation
import LocalPostgres
import Logging
import HTTPServer
import Postgres
import ProviderSimulator
import PushContract
import Server

/// One run of a local installation: the settings, the demo traffic, and what is printed when all is up.
struct LocalRun: Sendable {
    let installation: LocalInstallation
    let endpoints: SimulatorEndpoints
    let credentials: SimulatorCredentials
    let sinkURL: String
    let port: Int
    let simulator: ProviderSimulator
    /// Nil: no demo.
    let demo: DemoScale?

    func server(metrics: MetricsRegistry, logger: Logger) throws -> PushwatchServer {
        let files = try SimulatorFiles(credentials, endpoints: endpoints, directory: installation.directory)
        var configuration = ServerConfiguration(databaseURL: installation.postgres.socketURL)
        configuration.migrationsDirectory = installation.migrations
        configuration.alertsDirectory = installation.alerts
        configuration.httpPort = port
        configuration.tokenKeys = installation.tokenKeys
        // Evaluated soon after each minute: the demo's attempts are never late.
        configuration.alertsLag = .seconds(5)
        configuration.sendRetryBase = .seconds(10)
        configuration.webhookURL = sinkURL
        // The demo plays a match after the other to the same phones.
        configuration.liveStartsPerHour = 20
        configuration.liveStartsPerDay = 400
        configuration.providersCAFile = endpoints.caFile
        configuration.apns = .init(
            teamId: files.teamId,
            keyId: files.keyId,
            keyFile: files.apnsKey,
            productionURL: endpoints.apnsURL,
            sandboxURL: endpoints.apnsURL
        )
        configuration.fcm = .init(serviceAccountFile: files.serviceAccount, url: endpoints.fcmURL)
        configuration.users = .init(issuer: DemoIssuer.issuer, audience: DemoIssuer.audience, jwks: installation.issuer.jwksPath)

        let (urls, listening) = AsyncStream<String>.makeStream()
        var hooks = PushwatchServer.Hooks()
        hooks.onListening = { url in
            listening.yield(url)
            listening.finish()
        }
        hooks.companions = [LocalCompanion(run: self, urls: urls, logger: logger)]
        return PushwatchServer(configuration: configuration, metrics: metrics, hooks: hooks, logger: logger)
    }
}
