import Postgres
import PushContract

/// One row of `attemptLedger`.
struct LedgerEntry {
    var key: AttemptKey
    var generation: Int32
    var known: AttemptProgress.Known
    var attemptedAt: Timestamp

    init(row: Row) throws {
        let (key, generation, fingerprint, status, attemptedAt) = try row.decode((AttemptKey, Int32, AttemptKey, String, Timestamp).self)
        guard let status = AttemptStatus(rawValue: status) else {
            throw PostgresError(.decoding, "status \(status) of attemptLedger is not known")
        }
        self.key = key
        self.generation = generation
        known = AttemptProgress.Known(fingerprint: fingerprint, status: status)
        self.attemptedAt = attemptedAt
    }

    /// Of a stored attempt that the ledger no longer has, as it is entered again.
    init(_ stored: Attempt, generation: Int32) {
        key = AttemptKey(attemptId: stored.attemptId)
        self.generation = generation
        known = AttemptProgress.Known(fingerprint: AttemptKey(contentOf: stored), status: stored.status)
        attemptedAt = stored.attemptedAt
    }
}

/// A generation that takes no keys any more, and when it took its last. Numbers may come again after a failover that lost a rotation;
/// number and moment do not.
struct FrozenGeneration: Hashable, Sendable {
    var number: Int32
    var frozenAt: Timestamp
}

/// The ledger's live generations, read first in every writing transaction: the table lock that the read takes lasts to the commit, so a
/// rotation waits for the batches under way and every later batch sees all of theirs.
struct LedgerGenerations: Equatable, Sendable {
    /// As many days are remembered, and the current one.
    static let mostFrozen = 8

    /// The one that takes new keys.
    var current: Int32
    /// Newest first; never empty.
    var frozen: [FrozenGeneration]

    static let query: Query = "SELECT currentGeneration, frozenAt FROM ledgerState WHERE id = 1"

    init(_ rows: some Collection<Row>) throws {
        guard let row = rows.first else { throw PostgresError(.decoding, "ledgerState is empty: run `pushwatch migrate`") }
        let (current, frozenAt) = try row.decode((Int32, [Timestamp]).self)
        self.init(current: current, frozenAt: frozenAt)
    }

    init(current: Int32, frozenAt: [Timestamp]) {
        self.current = current
        frozen = frozenAt.enumerated().map { FrozenGeneration(number: current - 1 - Int32($0.offset), frozenAt: $0.element) }
    }

    static func read(_ connection: BlockingConnection) throws -> LedgerGenerations { try LedgerGenerations(connection.query(query)) }

    static func read(on session: some PostgresSession) async throws -> LedgerGenerations {
        try await LedgerGenerations(session.query(query))
    }

    var rotatedAt: Timestamp { frozen[0].frozenAt }
    var oldest: Int32 { frozen[frozen.count - 1].number }

    /// From here on the ledger contains each attempt that was ever new, by when it was made: it was received at most 5 minutes before, and
    /// what was received since then is in a live generation. The rest of two hours is for servers whose clocks differ.
    var knownSince: Timestamp {
        rotatedAt - .seconds(Int64(LedgerGenerations.mostFrozen) * PartitionPlan.generationSeconds - 7200)
    }

    /// First statement of a transaction that relies on these generations: takes the same table lock, and fails (22012) when they are
    /// others. The last rotation implies all before it.
    ///
    /// - Parameter lockLimit: how long the transaction then waits for each lock; nil: as before.
    func guardQuery(lockLimit: Duration?) -> Query {
        let parameters: [Query.Parameter] = [.number(current), .moment(rotatedAt)]
        guard let lockLimit else {
            return Query("SELECT 1 / count(*) FROM ledgerState WHERE id = 1 AND currentGeneration = $1 AND frozenAt[1] = $2", parameters)
        }
        // Not in a statement of its own, whose cost is noticed in small transactions.
        return Query(
            """
            SELECT 1 / count(*), set_config('lock_timeout', $3, true)
            FROM ledgerState WHERE id = 1 AND currentGeneration = $1 AND frozenAt[1] = $2
            """,
            parameters + [.text(Array(String(lockLimit.microseconds / 1000).utf8))]
        )
    }
}
