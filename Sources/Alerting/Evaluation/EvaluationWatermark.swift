import Logging
import Postgres
import PushContract
import Synchronization

/// The moment before which all attempts are stored: `lag` ago, or the time of the oldest outcome that a writer could not commit yet.
/// Otherwise the uncommitted outcomes of a slow writer would count as no attempts, and alerts about them might resolve.
final class EvaluationWatermark: Sendable {
    private let pool: PostgresPool
    private let configuration: EvaluatorConfiguration
    private let metrics: EvaluatorMetrics
    private let logger: Logger
    /// A writer has uncommitted outcomes that are older than `lag`.
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
