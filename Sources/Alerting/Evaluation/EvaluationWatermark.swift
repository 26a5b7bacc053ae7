import Logging
import Postgres
import PushContract
import Synchronization

/// The moment before which all attempts are known: `lag` ago, or when the oldest outcome was made that a writer holds and could not commit
/// yet (reference, alerting §2.3). Without it what a slow writer holds would look like attempts that nobody made, and an alert about them like
/// one that is over.
final class EvaluationWatermark: Sendable {
    private let pool: PostgresPool
    private let configuration: EvaluatorConfiguration
    private let metrics: EvaluatorMetrics
    private let logger: Logger
    /// A writer holds outcomes that are older than `lag`.
    private let isWaiting = Mutex(false)

    init(pool: PostgresPool, configuration: EvaluatorConfiguration, metrics: EvaluatorMetrics, logger: Logger) {
        self.pool = pool
        self.configuration = configuration
        self.metrics = metrics
        self.logger = logger
    }

    func read(at now: Timestamp) async throws -> Timestamp {
        let closed = now - configuration.lag
        guard let oldest = try await HeartbeatStore.oldestUncommitted(at: now, on: pool), oldest < closed else {
            metrics.waiting(for: .zero)
            reset()
            return closed
        }
        let watermark = max(oldest, closed - configuration.writerTimeout)
        metrics.waiting(for: closed - watermark)
        let wasWaiting = isWaiting.withLock { isWaiting in
            defer { isWaiting = true }
            return isWaiting
        }
        if !wasWaiting { logger.warning("a writer has uncommitted outcomes; rules wait for them", metadata: ["since": "\(oldest)"]) }
        return watermark
    }

    /// The next wait is logged again.
    func reset() { isWaiting.withLock { $0 = false } }
}
