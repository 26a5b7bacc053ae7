package import Logging
import Postgres
import ServiceKit
import ServiceLifecycle

/// Publishes and samples the queue's depth and age, and forgets sends that are long over.
///
/// Every process runs one; they do not disturb each other. Failures are logged; counts are tried again in the next turn, removals in their own
/// next one.
package struct QueueMaintenance: Service {
    private struct Progress {
        var turn = 0
        /// When the next count may begin.
        var countAfter = ContinuousClock.now
    }

    /// A count reads all that waits, and next to an old snapshot also what was worked off since. It may take one part in so many of the time.
    private static let countShare = 20

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
        let service = PeriodicService("queue maintenance", every: interval, clock: clock, logger: logger, state: Progress()) { progress in
            let start = ContinuousClock.now
            if start >= progress.countAfter {
                try await count()
                progress.countAfter = .now + (.now - start) * Self.countShare
            }
            defer { progress.turn += 1 }
            if progress.turn.isMultiple(of: 120) { try await forget() }
        }
        try await service.run()
    }

    private func count() async throws {
        let backlog = try await store.backlog()
        SendMetrics.gauge(backlog)
        try await store.sample(backlog)
        SendMetrics.gauge(try await store.deactivationLimiters.open())
    }

    /// Each step whatever became of the others.
    private func forget() async throws {
        let steps: [() async throws -> Void] = [
            { while try await store.forget(olderThan: retention) {} },
            { while try await store.forgetQueued() == SendStore.forgetLimit {} },
            { try await store.forgetNewest() },
            { try await OutcomeStream(pool: store.pool).forget(olderThan: retention) },
            { try await store.deleteClosedCircuits() },
            { try await store.deactivationLimiters.forget() },
        ]
        var failure: (any Error)?
        for step in steps {
            do { try await step() } catch is CancellationError { throw CancellationError() } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }
}
