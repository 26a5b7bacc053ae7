import Foundation
import HTTPClient
import Logging
import Providers
import PushContract

/// Makes a provider of each configured credential. Wrong ones are refused here, with what is wrong.
enum PushProviders {
    /// Every credential: the single ones of the settings, and those of the credentials file.
    static func entries(_ configuration: ServerConfiguration) throws(ConfigurationError) -> [CredentialEntry] {
        var entries: [CredentialEntry] = []
        if let apns = configuration.apns {
            let settings = CredentialEntry.APNs(
                teamId: apns.teamId,
                keyId: apns.keyId,
                keyFile: apns.keyFile,
                endpoints: [.production: apns.productionURL, .sandbox: apns.sandboxURL]
            )
            entries.append(
                CredentialEntry(name: "APNs \(apns.teamId)/\(apns.keyId)", kind: .apns(settings), apps: Set([apns.app].compactMap { $0 }))
            )
        }
        if let fcm = configuration.fcm {
            let settings = CredentialEntry.FCM(serviceAccountFile: fcm.serviceAccountFile, url: fcm.url)
            entries.append(CredentialEntry(name: "FCM", kind: .fcm(settings)))
        }
        if let file = configuration.credentialsFile { entries += try CredentialFile.entries(of: file) }
        return entries.map { entry in
            var entry = entry
            entry.caFile = entry.caFile ?? configuration.providersCAFile
            entry.connections = configuration.providersConnections
            return entry
        }
    }

    static func make(_ entry: CredentialEntry, logger: Logger) throws(ConfigurationError) -> any PushProvider {
        do throws(CredentialError) {
            switch entry.kind {
            case .apns(let settings):
                let apns = APNsConfiguration(
                    teamId: settings.teamId,
                    keyId: settings.keyId,
                    privateKey: try read(settings.keyFile),
                    endpoints: settings.endpoints,
                    channelEndpoints: settings.channelEndpoints
                )
                return try APNsProvider(configuration: apns, client: client(APNsConfiguration.client, entry), logger: logger)
            case .fcm(let settings):
                let fcm = FCMConfiguration(
                    serviceAccount: try read(settings.serviceAccountFile),
                    endpoint: settings.url,
                    projectId: settings.projectId,
                    tokenURL: settings.tokenURL
                )
                return try FCMProvider(
                    configuration: fcm,
                    client: client(FCMConfiguration.client, entry),
                    tokenClient: tokenClient(entry),
                    logger: logger
                )
            }
        } catch {
            throw ConfigurationError("\(entry.name): \(error.message)")
        }
    }

    private static func client(_ base: HTTP2ClientConfiguration, _ entry: CredentialEntry) -> HTTP2Client {
        var base = base
        base.caFile = entry.caFile
        base.proxy = entry.proxy
        base.maxConnectionsPerHost = entry.connections
        return HTTP2Client(configuration: base)
    }

    /// For Google's OAuth endpoint, or whatever the key file names.
    private static func tokenClient(_ entry: CredentialEntry) -> CurlClient {
        var configuration = CurlClientConfiguration()
        configuration.pool = "oauth"
        configuration.maxConnectionsPerHost = 1
        configuration.caFile = entry.caFile
        configuration.proxy = entry.proxy
        return CurlClient(configuration: configuration)
    }

    private static func read(_ path: String) throws(CredentialError) -> String {
        guard let data = FileManager.default.contents(atPath: path) else { throw CredentialError("\(path) cannot be read.") }
        return String(decoding: data, as: UTF8.self)
    }
}
