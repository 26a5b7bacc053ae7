import Delivery
import Logging
import Postgres
import PushContract
import ServiceKit
import TestDatabase

@testable import LiveActivities

/// The parts as the server puts them together.
enum BenchParts {
    static let cipher = TokenCipher(.random())

    static func recorder() -> AttemptRecorder { AttemptRecording.recorder(slot: 9, logger: .silent) }

    static func devices(_ pool: PostgresPool) -> DeviceStore {
        DeviceStore(pool: pool, cipher: cipher, record: recorder(), onRemoval: ActivityRemovals.end, onErasure: ActivityRemovals.erase)
    }

    static func engine(
        _ pool: PostgresPool,
        _ configuration: LiveConfiguration,
        lookup: @escaping ProviderLookup,
        clock: TestClock,
        logger: Logger
    ) -> LiveEngine {
        let stores = LiveStores(
            pool: pool,
            policy: configuration.policy,
            channels: configuration.channels,
            types: (try? AttributesTypes(directory: LiveRoutes.typesDirectory)) ?? AttributesTypes(),
            cipher: cipher,
            record: recorder()
        )
        return LiveEngine(configuration: configuration, stores: stores, lookup: lookup, logger: logger, now: { clock.now })
    }

    /// The send queue with starts and ends.
    static func sends(_ pool: PostgresPool, _ configuration: LiveConfiguration, clock: TestClock) -> SendStore {
        let now: @Sendable () -> Timestamp = { clock.now }
        let start = LiveStart(pool: pool, policy: configuration.policy, channels: configuration.channels, cipher: cipher, now: now)
        let kinds = QueuedKinds([start, LiveEnd(pool: pool, cipher: cipher, now: now)], logger: .silent)
        return SendStore(pool: pool, cipher: cipher, kinds: kinds, record: recorder())
    }

    static func dispatcher(_ sends: SendStore, _ pool: PostgresPool, lookup: @escaping ProviderLookup) -> SendDispatcher {
        var configuration = DispatcherConfiguration()
        configuration.drainLimit = .milliseconds(100)
        // Nothing is due again before the test lets time pass, however slow the machine is.
        configuration.delays.apns.minimum = .seconds(20)
        return SendDispatcher(
            store: sends,
            throttles: ThrottleStore(pool: pool),
            lookup: lookup,
            configuration: configuration,
            logger: .silent
        )
    }

    static func giveStartToken(_ text: String, _ userId: String, _ deviceId: String, _ bench: LiveBench) async throws {
        let token = try PushToken(text, provider: .apns)
        let registration = StartTokenRegistration(userId: userId, deviceId: deviceId, token: token)
        _ = try await bench.devices.register(registration, requestId: "s-\(userId)-\(deviceId)-\(text.suffix(6))", now: bench.now)
    }
}
