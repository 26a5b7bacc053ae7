import CommandLineKit
import Foundation
import HTTPClient
import Logging
import PushContract
import ServiceKit
import ServiceLifecycle

/// Keeps demo traffic on the real send path: registers simulated devices, says that Pushwatch is ready, then posts a send every few
/// seconds until shutdown.
struct DemoTraffic: Service {
    let api: DemoAPI
    let key: String
    let issuer: DemoIssuer
    /// Nil: no devices and no traffic.
    let sendsPerMinute: Int?
    let announce: @Sendable () async -> Void
    let logger: Logger

    private static let devices = 40

    func run() async throws {
        if sendsPerMinute != nil { await registerDevices() }
        await announce()
        guard let sendsPerMinute else {
            try await gracefulShutdown()
            return
        }
        let state = (number: 0, random: SplitMix64(seed: UInt64(Timestamp.now().seconds)))
        let service = PeriodicService("demo traffic", every: .seconds(60) / sendsPerMinute, logger: logger, state: state) { state in
            state.number += 1
            await send(state.number, &state.random)
        }
        try await service.run()
    }

    private func registerDevices() async {
        for person in (0..<DemoTraffic.devices).map(DemoPerson.init) {
            guard let token = try? await issuer.token(userId: person.uid, now: Date()) else { continue }
            let status = await api.post(
                "/devices",
                bearer: token,
                [
                    "deviceId": "demo-device-\(person.uid)", "pushToken": person.token, "platform": person.platform.rawValue,
                    "provider": person.provider.rawValue, "environment": "sandbox", "app": person.app, "osVersion": person.osVersion,
                    "appVersion": person.appVersion,
                ]
            )
            if status.map({ $0 >= 300 }) ?? true {
                logger.warning("a demo device was not registered", metadata: ["status": "\(status ?? 0)"])
            }
        }
    }

    private func send(_ number: Int, _ random: inout SplitMix64) async {
        let person = DemoPerson(random.below(DemoTraffic.devices))
        let isCritical = number % 10 == 0
        _ = await api.post(
            "/sends",
            bearer: key,
            [
                "uid": person.uid, "title": isCritical ? "Kick-off in five minutes" : "Score update", "body": "Demo message \(number)",
                "critical": isCritical,
            ]
        )
    }
}
