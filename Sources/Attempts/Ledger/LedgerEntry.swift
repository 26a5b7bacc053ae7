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
}

/// The ledger's two live generations, read first in every writing transaction: the table lock that the read takes lasts to the
/// commit, so a rotation waits for the batches under way and every later batch sees all of theirs.
struct LedgerGenerations: Equatable, Sendable {
    var current: Int32
    var previous: Int32
    /// When `previous` took its last key. Numbers may come again after a failover that lost a rotation; number and moment do not.
    var rotatedAt: Timestamp

    static func read(_ connection: BlockingConnection) throws -> LedgerGenerations {
        let rows = try connection.query("SELECT currentGeneration, previousGeneration, rotatedAt FROM ledgerState WHERE id = 1")
        guard let row = rows.first else { throw PostgresError(.decoding, "ledgerState is empty: run `pushwatch migrate`") }
        let (current, previous, rotatedAt) = try row.decode((Int32, Int32, Timestamp).self)
        return LedgerGenerations(current: current, previous: previous, rotatedAt: rotatedAt)
    }

    /// First statement of a transaction that relies on these generations: takes the same table lock, and fails (22012) when they are
    /// others.
    var guardQuery: Query {
        Query(
            """
            SELECT 1 / count(*) FROM ledgerState
            WHERE id = 1 AND currentGeneration = $1 AND previousGeneration = $2 AND rotatedAt = $3
            """,
            [.number(current), .number(previous), .moment(rotatedAt)]
        )
    }
}
