import Foundation
import HTTPClient
import Logging
import ProviderSimulator
import PushContract
import Synchronization

@testable import Providers

/// A running simulator with providers that use its credentials, and a clock both sides go by.
struct Simulation: Sendable {
    let simulator: ProviderSimulator
    let endpoints: SimulatorEndpoints
    let clock: TestClock

    static func run(
        change: (inout SimulatorConfiguration) -> Void = { _ in },
        _ body: (Simulation) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "providers-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let clock = TestClock()
        var configuration = SimulatorConfiguration(directory: directory)
        configuration.credentials = try Samples.credentials.get()
        configuration.now = { clock.now }
        change(&configuration)
        try await ProviderSimulator.running(configuration) { simulator, endpoints in
            try await body(Simulation(simulator: simulator, endpoints: endpoints, clock: clock))
        }
    }

    func apns(
        timeout: Duration = .seconds(20),
        trust: String? = nil,
        change: (inout APNsConfiguration) -> Void = { _ in }
    ) throws -> APNsProvider {
        let key = try Samples.credentials.get().apns
        var client = APNsConfiguration.client
        client.caFile = trust ?? endpoints.caFile
        var configuration = APNsConfiguration(
            teamId: key.teamId,
            keyId: key.keyId,
            privateKey: key.privateKeyPEM,
            endpoints: [.sandbox: endpoints.apnsURL],
            timeout: timeout
        )
        change(&configuration)
        return try APNsProvider(
            configuration: configuration,
            client: HTTP2Client(configuration: client),
            clock: { clock.instant },
            logger: Simulation.silence
        )
    }

    func fcm(timeout: Duration = .seconds(20)) throws -> FCMProvider {
        var client = FCMConfiguration.client
        client.caFile = endpoints.caFile
        var tokenClient = CurlClientConfiguration()
        tokenClient.caFile = endpoints.caFile
        return try FCMProvider(
            configuration: FCMConfiguration(
                serviceAccount: try Samples.credentials.get().google.keyFile(tokenURL: endpoints.oauthTokenURL),
                endpoint: endpoints.fcmURL,
                timeout: timeout
            ),
            client: HTTP2Client(configuration: client),
            tokenClient: CurlClient(configuration: tokenClient),
            logger: Simulation.silence
        )
    }

    func send(
        _ message: PushMessage = PushMessage(title: "T", body: "B"),
        by provider: any PushProvider,
        token: String? = nil,
        attemptId: String = "attempt-1"
    ) async -> PushOutcome {
        let target = Samples.target(provider is APNsProvider ? .apns : .fcm, token: token)
        return await provider.send(message, to: target, attemptId: attemptId, now: clock.now)
    }

    private static let silence = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
}

/// Starts at the real time, since certificates are judged by it, and goes on when told.
final class TestClock: Sendable {
    private let moment = Mutex((time: Timestamp.now(), instant: ContinuousClock.now))

    var now: Timestamp { moment.withLock { $0.time } }
    var instant: ContinuousClock.Instant { moment.withLock { $0.instant } }

    func advance(by duration: Duration) { moment.withLock { $0 = ($0.time + duration, $0.instant + duration) } }

    /// The time is set, as by a person or by NTP.
    func set(back duration: Duration) { moment.withLock { $0.time = $0.time - duration } }
}
