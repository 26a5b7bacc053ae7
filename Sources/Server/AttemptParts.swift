import Attempts
import Delivery
import Logging

/// What stores attempts: those that senders report, and our own.
struct AttemptParts: Sendable {
    let labels: LabelLimiter
    let ledger: FrozenLedger
    let ingestor: AttemptIngestor
    /// Stores attempts of our own, each within the transaction of its outcome.
    let record: AttemptRecorder
    /// What this process has not written yet, of whatever origin.
    let uncommitted: UncommittedOutcomes

    init(_ configuration: ServerConfiguration, database: DatabaseParts, logger: Logger) {
        let hints = LedgerHints()
        let pool = database.pools.ingest
        labels = LabelLimiter(limits: configuration.labelLimits)
        uncommitted = UncommittedOutcomes()
        ledger = FrozenLedger(pool: pool, hints: hints, limits: configuration.ledgerFilters, logger: logger)
        ingestor = AttemptIngestor(
            pool: pool,
            maintenance: database.maintenance,
            hints: hints,
            uncommitted: uncommitted,
            logger: logger
        )
        record = AttemptRecording.recorder(slot: Int16.random(in: 256..<512), hints: hints, labels: labels, logger: logger)
    }
}
