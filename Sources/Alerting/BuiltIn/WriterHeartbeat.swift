package import Attempts
import Foundation
package import Logging
package import Postgres
package import PushContract
import ServiceKit
package import ServiceLifecycle

/// Runs in every instance that ingests or sends: says that it can write to the database, and what it has not written yet.
package struct WriterHeartbeat: Service {
    /// Twice a minute, so that no minute is skipped when a beat takes long.
    private static let interval = Duration.seconds(30)
    /// An outcome that waits for less than this is on its way: nobody need know.
    static let reportingThreshold = Duration.seconds(2)

    private let pool: PostgresPool
    private let uncommitted: UncommittedOutcomes
    private let logger: Logger
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Timestamp
    private let writer = UUID()

    /// - Parameter uncommitted: what all writers of this process hold.
    package init(
        pool: PostgresPool,
        uncommitted: UncommittedOutcomes = UncommittedOutcomes(),
        logger: Logger,
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) {
        self.pool = pool
        self.uncommitted = uncommitted
        self.logger = logger
        self.clock = clock
        self.now = now
    }

    package func run() async throws {
        let service = PeriodicService("writer heartbeat", every: .seconds(1), clock: clock, logger: logger, state: WriterReport()) {
            report in
            let now = now()
            let waiting = uncommitted.waiting(for: Self.reportingThreshold, at: now)
            if report.isDue(waiting, at: now, interval: Self.interval) {
                try await heartbeat()
                report = WriterReport(reportedAt: now, uncommittedSince: waiting)
            }
        }
        try await service.run()
    }

    package func heartbeat() async throws {
        let now = now()
        let waiting = uncommitted.waiting(for: Self.reportingThreshold, at: now)
        try await HeartbeatStore.record(writer, at: now, uncommittedSince: waiting, on: pool)
    }
}
