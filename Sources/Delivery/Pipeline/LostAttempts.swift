import Postgres
import Providers
import PushContract

/// An attempt whose process ended before it could write the outcome.
struct LostAttempt: Sendable {
    /// Nil: there was nothing to attempt.
    var identity: AttemptIdentity?
    var startedAt: Timestamp

    init(_ identity: AttemptIdentity?, startedAt: Timestamp) {
        self.identity = identity
        self.startedAt = startedAt
    }
}

/// Settles attempts that have no outcome, whatever protected them: a lease that ran out, or an intent that is left. Each gets a row that
/// says that the outcome is unknown.
struct LostAttempts: Sendable {
    private let pool: PostgresPool
    private let record: AttemptRecorder

    init(pool: PostgresPool, record: @escaping AttemptRecorder) {
        self.pool = pool
        self.record = record
    }

    /// - Parameter take: takes attempts from where they are left, and writes what follows for their owner; in the transaction of their
    ///   rows.
    /// - Returns: how many.
    func settle(_ take: @escaping @Sendable (BlockingConnection) throws -> [LostAttempt]) async throws -> Int {
        try await pool.performTransaction { [record] connection in
            let lost = try take(connection)
            let attempts = lost.compactMap { lost in lost.identity.map { Attempt($0, .lost, at: lost.startedAt) } }
            if !attempts.isEmpty { try record(attempts, connection) }
            return lost.count
        }
    }
}

extension PushOutcome {
    /// Of an attempt whose process ended: it may have been delivered.
    static var lost: PushOutcome {
        var outcome = PushOutcome.failed(
            Classification(.network, retry: .never),
            code: Attempt.unknownOutcomeCode,
            detail: "The process that made the attempt ended."
        )
        outcome.outcomeUnknown = true
        return outcome
    }
}
