import CoreMetrics
package import Logging
import Postgres
import ServiceLifecycle

/// Keeps the queue healthy: takes over leases that ran out, publishes depth and age, and forgets what is long over.
///
/// Every process runs one; they do not disturb each other. Failures are logged and tried again in the next turn.
package struct QueueKeeper: Service {
    private let store: SendStore
    private let interval: Duration
    private let retention: Duration
    private let clock: any Clock<Duration>
    private let wake: WakeSignal
    private let logger: Logger

    package init(
        store: SendStore,
        interval: Duration = .seconds(5),
        retention: Duration = .seconds(45 * 86_400),
        clock: any Clock<Duration> = ContinuousClock(),
        wake: WakeSignal = WakeSignal(),
        logger: Logger
    ) {
        self.store = store
        self.interval = interval
        self.retention = retention
        self.clock = clock
        self.wake = wake
        self.logger = logger
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            var turn = 0
            while !Task.isCancelled {
                await keep()
                if turn.isMultiple(of: 120) { await forget() }
                turn += 1
                try? await clock.sleep(for: interval)
            }
        }
    }

    private func keep() async {
        do {
            let reaped = try await reap()
            if reaped > 0 {
                logger.warning("leases ran out; their deliveries were taken up again", metadata: ["count": "\(reaped)"])
                wake.signal()
            }
            SendMetrics.gauge(try await store.backlog())
        } catch is CancellationError {
        } catch {
            logger.warning("the send queue cannot be kept; trying again", metadata: ["error": "\(error)"])
        }
    }

    private func forget() async {
        do {
            while try await store.forget(olderThan: retention) == 500 {}
        } catch is CancellationError {
        } catch {
            logger.warning("old sends could not be removed; trying again", metadata: ["error": "\(error)"])
        }
    }

    private func reap() async throws -> Int {
        var total = 0
        while true {
            let reaped = try await store.reap()
            total += reaped
            SendMetrics.reaped.increment(by: reaped)
            guard reaped == 500 else { return total }
        }
    }
}
