package import Attempts
import Foundation
package import Logging
package import Postgres
package import PushContract
import ServiceKit
import ServiceLifecycle

/// Runs in every instance that ingests or sends: reports that it can write to the database, its oldest uncommitted outcome, and the API
/// keys whose labels it folds.
package struct WriterHeartbeat: Service {
    /// Twice a minute, so that no minute is skipped when a heartbeat takes long.
    private static let interval = Duration.seconds(30)
    /// An outcome that waits for less than this is being committed and is not reported.
    static let reportingThreshold = Duration.seconds(2)

    private let pool: PostgresPool
    private let uncommitted: UncommittedOutcomes
    private let labels: LabelLimiter
    private let logger: Logger
    private let clock: any Clock<Duration>
    private let now: (@Sendable () -> Timestamp)?
    private let writer = UUID()

    /// - Parameters:
    ///   - uncommitted: the uncommitted outcomes of all writers of this process.
    ///   - labels: what they fold.
    ///   - now: used instead of the clocks, where the time is simulated.
    package init(
        pool: PostgresPool,
        uncommitted: UncommittedOutcomes = UncommittedOutcomes(),
        labels: LabelLimiter = LabelLimiter(),
        logger: Logger,
        clock: any Clock<Duration> = ContinuousClock(),
        now: (@Sendable () -> Timestamp)? = nil
    ) {
        self.pool = pool
        self.uncommitted = uncommitted
        self.labels = labels
        self.logger = logger
        self.clock = clock
        self.now = now
    }

    package func run() async throws {
        try await PeriodicService("writer heartbeat", every: .seconds(1), clock: clock, logger: logger, state: WriterReport()) { report in
            let now = now?() ?? .now()
            try await FoldedLabelStore.add(labels.takeFolds(), at: now, on: pool)
            let waiting = uncommitted.waiting(for: Self.reportingThreshold, at: now)
            guard report.isDue(waiting, at: now, interval: Self.interval) else { return }
            try await heartbeat()
            report = WriterReport(reportedAt: now, uncommittedSince: waiting)
        }.run()
    }

    package func heartbeat() async throws {
        let waiting = uncommitted.waiting(for: Self.reportingThreshold, at: now?() ?? .now())
        // Evaluators compare it with the database's clock: by a slow clock of this machine, a writer that works would count as silent.
        let time = if let now { now() } else { try await DatabaseClock.read(on: pool) }
        try await HeartbeatStore.record(writer, at: time, uncommittedSince: waiting, on: pool)
    }
}
