import Access
import Alerting
import CommandLineKit
import Foundation
import HTTPClient
import HTTPServer
import LocalPostgres
import Logging
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
        configuration.liveDirectory = try ProjectFiles.locate("live-activities")
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

        let settings = LocalSettings(directory: installation.directory)
        try settings.write(configuration: localYAML(configuration, files: files))

        let (urls, listening) = AsyncStream<String>.makeStream()
        var hooks = PushwatchServer.Hooks()
        hooks.onListening = { url in
            try? settings.write(url: url)
            listening.yield(url)
            listening.finish()
        }
        hooks.extraServices = [LocalDemoService(run: self, urls: urls, logger: logger)]
        return PushwatchServer(configuration: configuration, metrics: metrics, hooks: hooks, logger: logger)
    }

    /// The settings of this run as `pushwatch` commands read them. JSON strings are YAML strings.
    private func localYAML(_ configuration: ServerConfiguration, files: SimulatorFiles) throws -> String {
        let sections: [(section: String, values: [(name: String, value: String)])] = [
            ("database", [("url", configuration.databaseURL)]),
            ("migrations", [("directory", configuration.migrationsDirectory)]),
            ("token", [("keys", installation.tokenKeysFile)]),
            ("providers", [("caFile", endpoints.caFile)]),
            ("fcm", [("serviceAccountFile", files.serviceAccount), ("url", endpoints.fcmURL)]),
        ]
        let plain = try sections.map { section in
            try "\(section.section):\n" + section.values.map { "  \($0.name): \(try quoted($0.value))\n" }.joined()
        }
        let apns = """
            apns:
              teamId: \(try quoted(files.teamId))
              keyId: \(try quoted(files.keyId))
              keyFile: \(try quoted(files.apnsKey))
              production:
                url: \(try quoted(endpoints.apnsURL))
              sandbox:
                url: \(try quoted(endpoints.apnsURL))
            alerts:
              directory: \(try quoted(configuration.alertsDirectory))
              webhook:
                url: \(try quoted(sinkURL))

            """
        return "# The local installation, written by `pushwatch-dev up` at each start.\n" + plain.joined() + apns
    }

    private func quoted(_ text: String) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return String(decoding: try encoder.encode(text), as: UTF8.self)
    }
}
