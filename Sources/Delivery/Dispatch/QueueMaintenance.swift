package import Logging
import Postgres
import ServiceKit
import ServiceLifecycle

/// Publishes and samples the queue's depth and age, ends what is scheduled of cancelled sends, and forgets sends that are long over.
///
/// Every process runs one; they do not disturb each other. Each step is taken whatever became of the others. The first failure of a turn is
/// logged; counts are tried again when the next one may begin, removals in their own next turn.
package struct QueueMaintenance: Service {
    private struct Progress {
        var turn = 0
        /// When the next count may begin.
        var countAfter = ContinuousClock.now
    }

    private typealias Step = () async throws -> Void

    /// A count reads all that waits, and next to an old snapshot also what was worked off since. It may take one part in so many of the
    /// time.
    private static let countShare = 20
    /// The longest pause after a count that failed: its numbers are old.
    private static let countPause = Duration.seconds(60)

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
            defer { progress.turn += 1 }
            var failed: [any Error] = []
            let start = ContinuousClock.now
            if start >= progress.countAfter {
                failed += try await failures(of: [count])
                progress.countAfter = .now + Self.pause(after: ContinuousClock.now - start, isComplete: failed.isEmpty)
            }
            failed += try await failures(of: [endCancelled])
            if progress.turn.isMultiple(of: 120) { failed += try await failures(of: forgetting) }
            if let first = failed.first { throw first }
        }
        try await service.run()
    }

    /// Between a count that took so long and the next one.
    static func pause(after duration: Duration, isComplete: Bool) -> Duration {
        let pause = duration * countShare
        return isComplete ? pause : min(pause, countPause)
    }

    private func count() async throws {
        let backlog = try await store.backlog()
        SendMetrics.gauge(backlog)
        try await store.sample(backlog)
        SendMetrics.gauge(try await store.deactivationLimiters.open())
    }

    /// What requests that cancelled sends had no time for; of each send as much as a request ends, so that counts are not late.
    private func endCancelled() async throws {
        let steps: [Step] = try await store.cancelledWithScheduled().map { sendId in { try await endScheduled(of: sendId) } }
        if let first = try await failures(of: steps).first { throw first }
    }

    private func endScheduled(of sendId: String) async throws {
        try await WorkDeadline.$current.withValue(WorkDeadline(WorkDeadline.requestLimit)) {
            _ = try await store.endScheduled(of: sendId)
        }
    }

    private var forgetting: [Step] {
        [
            { while try await store.forget(olderThan: retention) {} },
            { while try await store.forgetQueued() == SendStore.forgetLimit {} },
            { try await store.forgetNewest() },
            { try await OutcomeStream(pool: store.pool).forget(olderThan: max(retention, SendStore.minimumRetention)) },
            { try await store.deleteClosedCircuits() },
            { try await store.deactivationLimiters.forget() },
        ]
    }

    /// Takes each step, whatever became of the others.
    private func failures(of steps: [Step]) async throws -> [any Error] {
        var failures: [any Error] = []
        for step in steps {
            do { try await step() } catch is CancellationError { throw CancellationError() } catch { failures.append(error) }
        }
        return failures
    }
}
