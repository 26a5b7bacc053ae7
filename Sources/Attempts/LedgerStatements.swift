import Postgres
import PushContract

/// The ledger's statements. Keys go in ascending order everywhere, so that two batches with common keys cannot deadlock.
enum LedgerStatements {
    /// Which of `keys` a generation knows. Its own statement, never a correlated sub-select: that would not distribute.
    static func known(_ keys: [AttemptKey], generation: Int32, on connection: BlockingConnection) throws -> [LedgerEntry] {
        try connection.query(
            """
            SELECT attemptKey, generation, fingerprint, status, attemptedAt
            FROM attemptLedger WHERE generation = \(generation) AND attemptKey = ANY(\(keys))
            """
        ).map(LedgerEntry.init)
    }

    /// The same, locked against other batches that would advance them.
    static func lock(_ entries: [LedgerEntry], on connection: BlockingConnection) throws -> [LedgerEntry] {
        let keys = entries.map(\.key).sorted()
        let generations = Array(Set(entries.map(\.generation)))
        return try connection.query(
            """
            SELECT attemptKey, generation, fingerprint, status, attemptedAt
            FROM attemptLedger WHERE generation = ANY(\(generations)) AND attemptKey = ANY(\(keys))
            ORDER BY attemptKey FOR UPDATE
            """
        ).map(LedgerEntry.init)
    }

    /// Inserts those that nobody has inserted; returns the keys that are new. Waits for a batch in flight that holds one of them.
    static func insert(_ records: [AttemptBatch.Record], generation: Int32, on connection: BlockingConnection) throws -> [AttemptKey] {
        try connection.query(
            """
            INSERT INTO attemptLedger (attemptKey, generation, fingerprint, attemptedAt, status)
            SELECT key, \(generation), fingerprint, attemptedAt, status::pushStatus
            FROM unnest(\(records.map(\.key)), \(records.map(\.fingerprint)), \(records.map(\.attemptedAt)),
                        \(records.map(\.status.rawValue))) AS new (key, fingerprint, attemptedAt, status)
            ON CONFLICT (attemptKey, generation) DO NOTHING
            RETURNING attemptKey
            """
        ).map { try $0.decode(AttemptKey.self) }
    }

    static func advance(_ moves: [AttemptMove], on connection: BlockingConnection) throws {
        try connection.execute(
            """
            UPDATE attemptLedger AS ledger SET status = moved.status::pushStatus
            FROM unnest(\(moves.map(\.entry.key)), \(moves.map(\.entry.generation)), \(moves.map(\.record.status.rawValue)))
                AS moved (key, generation, status)
            WHERE ledger.attemptKey = moved.key AND ledger.generation = moved.generation
            """
        )
    }
}

/// A stored attempt and the report that takes it forward.
struct AttemptMove {
    var entry: LedgerEntry
    var record: AttemptBatch.Record
}
