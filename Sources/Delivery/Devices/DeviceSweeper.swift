package import Logging
package import PushContract
import ServiceKit
import ServiceLifecycle

/// Removes devices that were not seen for 90 days. Reads have hidden them before.
///
/// Any number of processes may run one. Failures are logged and tried again in the next turn.
package struct DeviceSweeper: Service {
    private let store: DeviceStore
    private let interval: Duration
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Timestamp
    private let logger: Logger

    package init(
        store: DeviceStore,
        interval: Duration = .seconds(600),
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Timestamp = { .now() },
        logger: Logger
    ) {
        self.store = store
        self.interval = interval
        self.clock = clock
        self.now = now
        self.logger = logger
    }

    package func run() async throws {
        try await PeriodicService("device sweeper", every: interval, clock: clock, logger: logger) { try await sweep() }.run()
    }

    private func sweep() async throws {
        var removed = 0
        while true {
            let batch = try await store.sweep(now: now())
            removed += batch
            if batch == 0 { break }
        }
        if removed > 0 { logger.info("devices not seen for 90 days were removed", metadata: ["devices": "\(removed)"]) }
    }
}
