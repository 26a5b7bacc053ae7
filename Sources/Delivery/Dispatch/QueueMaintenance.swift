package import Logging
import Postgres
import ServiceLifecycle

/// Publishes the queue's depth and age, and forgets sends that are long over.
///
/// Every process runs one; they do not disturb each other. Failures are logged and tried again in the next turn.
package struct QueueMaintenance: Service {
    private let store: SendStore
    private let interval: Duration
    private let retention: Duration
    private let clock: any Clock<Duration>
    private let logger: Logger

    package init(
        store: SendStore,
        interval: Duration = .seconds(5),
        retention: Duration = .seconds(45 * 86_400),
        clock: any Clock<Duration> = ContinuousClock(),
        logger: Logger
    ) {
        self.store = store
        self.interval = interval
        self.retention = retention
        self.clock = clock
        self.logger = logger
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            var turn = 0
            while !Task.isCancelled {
                await count()
                if turn.isMultiple(of: 120) { await forget() }
                turn += 1
                try? await clock.sleep(for: interval)
            }
        }
    }

    private func count() async {
        do {
            SendMetrics.gauge(try await store.backlog())
            SendMetrics.gauge(try await store.deactivationLimiters.open())
        } catch is CancellationError {
        } catch {
            logger.warning("the send queue cannot be counted; trying again", metadata: ["error": "\(error)"])
        }
    }

    private func forget() async {
        do {
            while try await store.forget(olderThan: retention) == 500 {}
            try await store.deleteClosedCircuits()
            try await store.deactivationLimiters.forget()
        } catch is CancellationError {
        } catch {
            logger.warning("old sends could not be removed; trying again", metadata: ["error": "\(error)"])
        }
    }
}
