import CurlHTTP
import Foundation
import Logging
import Providers
import PushContract

/// The providers that the configuration has credentials for. Wrong credentials are refused here, at the start, with what is wrong.
enum PushProviders {
    static func make(_ configuration: ServerConfiguration, logger: Logger) throws(ConfigurationError) -> [Provider: any PushProvider] {
        do throws(CredentialError) {
            var providers: [Provider: any PushProvider] = [:]
            if let settings = configuration.apns {
                let apns = APNsConfiguration(
                    teamId: settings.teamId,
                    keyId: settings.keyId,
                    privateKey: try read(settings.keyFile),
                    endpoints: [.production: settings.productionURL, .sandbox: settings.sandboxURL]
                )
                let client = client(APNsConfiguration.client, configuration, logger)
                providers[.apns] = try APNsProvider(configuration: apns, client: client, logger: logger)
            }
            if let settings = configuration.fcm {
                let fcm = FCMConfiguration(serviceAccount: try read(settings.serviceAccountFile), endpoint: settings.url)
                let client = client(FCMConfiguration.client, configuration, logger)
                providers[.fcm] = try FCMProvider(configuration: fcm, client: client, logger: logger)
            }
            return providers
        } catch {
            throw ConfigurationError(error.message)
        }
    }

    private static func client(_ base: CurlClientConfiguration, _ configuration: ServerConfiguration, _ logger: Logger) -> CurlClient {
        var base = base
        base.caFile = configuration.providersCAFile
        return CurlClient(configuration: base, logger: logger)
    }

    private static func read(_ path: String) throws(CredentialError) -> String {
        guard let data = FileManager.default.contents(atPath: path) else { throw CredentialError("\(path) cannot be read.") }
        return String(decoding: data, as: UTF8.self)
    }
}
