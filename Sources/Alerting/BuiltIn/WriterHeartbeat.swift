import Foundation
package import Logging
package import Postgres
package import PushContract
package import ServiceLifecycle

/// Runs in every instance that ingests or sends: says once a minute that it can write to the database.
package struct WriterHeartbeat: Service {
    private let pool: PostgresPool
    private let logger: Logger
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Timestamp
    private let writer = UUID()

    package init(
        pool: PostgresPool,
        logger: Logger,
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) {
        self.pool = pool
        self.logger = logger
        self.clock = clock
        self.now = now
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    try await beat()
                } catch is CancellationError {
                    return
                } catch {
                    logger.warning("no heartbeat could be written", metadata: ["error": "\(error)"])
                }
                // Twice a minute, so that no minute is skipped when a beat takes long.
                try? await clock.sleep(for: .seconds(30), tolerance: nil)
            }
        }
    }

    package func beat() async throws {
        try await HeartbeatStore.beat(writer, at: now(), on: pool)
    }
}
