import Foundation
import Logging
import Providers
import PushContract
import Sending
import ServiceLifecycle
import Synchronization

/// The providers in use, made anew when a credential file changes. A file that cannot be used leaves the old credentials in force.
///
/// Safe to use from any task.
final class ProviderBook: Service, Sendable {
    private struct State {
        var providers: [Provider: any PushProvider]
        var stamps: [String: Date]
        var fault: String?
    }

    private let configuration: ServerConfiguration
    private let logger: Logger
    private let state: Mutex<State>

    /// Throws `ConfigurationError` when the credentials cannot be used at the start.
    init(_ configuration: ServerConfiguration, logger: Logger) throws {
        self.configuration = configuration
        self.logger = logger
        let stamps = ProviderBook.stamps(configuration)
        state = Mutex(State(providers: try PushProviders.make(configuration, logger: logger), stamps: stamps))
    }

    /// Why the newest credential file is not in use; nil when it is.
    var fault: String? { state.withLock { $0.fault } }

    @Sendable
    func lookup(_ provider: Provider, app: String, environment: PushEnvironment) -> (any PushProvider)? {
        state.withLock { $0.providers[provider] }
    }

    func run() async throws {
        try? await cancelWhenGracefulShutdown { [self] in
            while !Task.isCancelled {
                try await Task.sleep(for: .seconds(5))
                refresh()
            }
        }
    }

    /// Looks at the files once.
    func refresh() {
        let stamps = ProviderBook.stamps(configuration)
        guard stamps != state.withLock({ $0.stamps }) else { return }
        do throws(ConfigurationError) {
            let providers = try PushProviders.make(configuration, logger: logger)
            state.withLock { $0 = State(providers: providers, stamps: stamps) }
            logger.notice("credentials were read anew")
        } catch {
            state.withLock {
                $0.stamps = stamps
                $0.fault = error.description
            }
            logger.error("changed credentials cannot be used; the old ones stay", metadata: ["error": "\(error)"])
        }
    }

    private static func stamps(_ configuration: ServerConfiguration) -> [String: Date] {
        let files = [configuration.apns?.keyFile, configuration.fcm?.serviceAccountFile, configuration.providersCAFile].compactMap { $0 }
        return files.reduce(into: [:]) { stamps, file in
            stamps[file] = (try? FileManager.default.attributesOfItem(atPath: file)[.modificationDate]) as? Date
        }
    }
}
