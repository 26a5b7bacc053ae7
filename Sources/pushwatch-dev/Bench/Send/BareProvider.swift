import CommandLineKit
import Foundation
import HTTPClient
import Logging
import Providers
import PushContract

/// What sending costs without Pushwatch: the provider's requests made one after another by so many tasks, with no queue and no rows.
struct BareProvider {
    let settings: [String: String]
    var connections: Int
    var inFlight: Int

    struct Slice: Encodable, Sendable {
        var perSecond: Double
        /// By second of processor time of the sender alone.
        var perCoreSecond: Double
        var simulatorMicroseconds: Double
        var failed: Int
        var failure: String?
    }

    func run(requests: Int, simulator: ProcessUse?) async throws -> Slice {
        let provider = try provider()
        let target = PushTarget(provider: .apns, token: SendLoad.token, environment: .production, app: SendLoad.app)
        let message = PushMessage(title: SendLoad.title, body: SendLoad.body)
        // Connections and the provider token are there before the clock runs.
        _ = await send(inFlight, through: provider, message, to: target)
        let before = simulator?.cpuSeconds
        let meter = Meter()
        let (accepted, failure) = await send(requests, through: provider, message, to: target)
        try Task.checkCancellation()
        let slice = meter.slice(answered: accepted, failed: requests - accepted, failure: failure)
        let spent = (simulator?.cpuSeconds ?? 0) - (before ?? 0)
        return Slice(
            perSecond: slice.perSecond,
            perCoreSecond: slice.perCoreSecond,
            simulatorMicroseconds: spent * 1e6 / Double(max(1, accepted)),
            failed: slice.failed,
            failure: slice.failure
        )
    }

    private func send(
        _ requests: Int,
        through provider: APNsProvider,
        _ message: PushMessage,
        to target: PushTarget
    ) async -> (Int, String?) {
        await withTaskGroup(of: (Int, String?).self) { group in
            for slot in 0..<inFlight {
                let share = requests / inFlight + (slot < requests % inFlight ? 1 : 0)
                group.addTask {
                    var accepted = 0
                    var failure: String?
                    for number in 0..<share where !Task.isCancelled {
                        let outcome = await provider.send(message, to: target, attemptId: "bare-\(slot)-\(number)", now: .now())
                        if outcome.status == .sent { accepted += 1 } else { failure = failure ?? outcome.detail }
                    }
                    return (accepted, failure)
                }
            }
            return await group.reduce(into: (0, nil)) { sum, part in sum = (sum.0 + part.0, sum.1 ?? part.1) }
        }
    }

    func provider() throws -> APNsProvider {
        var client = APNsConfiguration.client
        client.pool = "bench"
        client.caFile = settings["PUSHWATCH_PROVIDERS_CA_FILE"]
        client.maxConnectionsPerHost = connections
        let configuration = APNsConfiguration(
            teamId: settings["PUSHWATCH_APNS_TEAM_ID"] ?? "",
            keyId: settings["PUSHWATCH_APNS_KEY_ID"] ?? "",
            privateKey: try String(contentsOfFile: settings["PUSHWATCH_APNS_KEY_FILE"] ?? "", encoding: .utf8),
            endpoints: [.production: settings["PUSHWATCH_APNS_PRODUCTION_URL"] ?? ""]
        )
        let logger = Logger(label: "bench")
        return try APNsProvider(configuration: configuration, client: HTTP2Client(configuration: client), logger: logger)
    }
}
