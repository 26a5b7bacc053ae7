import Postgres
import PushContract

/// The ledger's statements. Keys go in ascending order everywhere, so that two batches with common keys cannot deadlock.
enum LedgerStatements {
    /// How long the transaction waits for each lock, such as that of a key which another one has inserted and not committed.
    static func limitWaits(to limit: Duration) -> Query { "SET LOCAL lock_timeout = \(raw: String(limit.microseconds / 1000))" }

    /// Which of `keys` the generations know. Its own statement, never a correlated sub-select: that would not distribute.
    static func known(_ keys: [AttemptKey], generations: [Int32], on connection: BlockingConnection) throws -> [LedgerEntry] {
        guard !keys.isEmpty else { return [] }
        return try connection.query(
            """
            SELECT attemptKey, generation, fingerprint, status, attemptedAt
            FROM attemptLedger
            WHERE generation = ANY(\(generations)) AND attemptKey = ANY(\(binary: array(keys), oid: AttemptKey.arrayOID))
            """
        ).map(LedgerEntry.init)
    }

    /// Inserts new keys; returns the keys that were known. Waits for a batch in progress that has one of them.
    static func insert(_ records: [AttemptBatch.Record], generation: Int32, on connection: BlockingConnection) throws -> [AttemptKey] {
        guard !records.isEmpty else { return [] }
        let columns = columns(records)
        let new = try connection.query(
            """
            INSERT INTO attemptLedger (attemptKey, generation, fingerprint, attemptedAt, status)
            SELECT key, \(generation), fingerprint, attemptedAt, status::pushStatus
            FROM unnest(\(binary: columns.keys, oid: AttemptKey.arrayOID), \(binary: columns.fingerprints, oid: AttemptKey.arrayOID),
                        \(binary: columns.moments, oid: Timestamp.arrayOID), \(binary: columns.statuses, oid: String.arrayOID))
                AS new (key, fingerprint, attemptedAt, status)
            ON CONFLICT (attemptKey, generation) DO NOTHING
            RETURNING attemptKey
            """
        )
        // Nearly always all are new.
        if new.count == records.count { return [] }
        let inserted = try Set(new.map { try $0.decode(AttemptKey.self) })
        return records.map(\.key).filter { !inserted.contains($0) }
    }

    /// Fails (22012) when one of the generations contains one of `keys`.
    static func unknown(_ keys: [AttemptKey], generations: [Int32]) -> Query {
        """
        SELECT 1 / (count(*) = 0)::int
        FROM attemptLedger
        WHERE generation = ANY(\(generations)) AND attemptKey = ANY(\(binary: array(keys), oid: AttemptKey.arrayOID))
        """
    }

    /// Inserts keys that are new; fails (23505) when one is not. One statement for each where there are few: a function scan over arrays
    /// costs as much as so many.
    static func insertNew(_ records: [AttemptBatch.Record], generation: Int32) -> [Query] {
        records.count <= few ? records.map { insertNew($0, generation: generation) } : [insertNew(records, generation: generation)]
    }

    private static let few = 3

    private static func insertNew(_ record: AttemptBatch.Record, generation: Int32) -> Query {
        Query(
            "INSERT INTO attemptLedger (attemptKey, generation, fingerprint, attemptedAt, status) VALUES ($1, $2, $3, $4, $5)",
            [
                .key(record.key), .number(generation), .key(record.fingerprint), .moment(record.attemptedAt), .word(record.status.spelling),
            ]
        )
    }

    private static func insertNew(_ records: [AttemptBatch.Record], generation: Int32) -> Query {
        let columns = columns(records)
        return """
            INSERT INTO attemptLedger (attemptKey, generation, fingerprint, attemptedAt, status)
            SELECT key, \(generation), fingerprint, attemptedAt, status::pushStatus
            FROM unnest(\(binary: columns.keys, oid: AttemptKey.arrayOID), \(binary: columns.fingerprints, oid: AttemptKey.arrayOID),
                        \(binary: columns.moments, oid: Timestamp.arrayOID), \(binary: columns.statuses, oid: String.arrayOID))
                AS new (key, fingerprint, attemptedAt, status)
            """
    }

    private static func array(_ keys: [AttemptKey]) -> [UInt8] {
        PackedBytes.build(capacity: PackedBytes.arrayHeaderBytes + keys.count * 20) { bytes in
            bytes.appendArrayHeader(of: AttemptKey.oid, count: keys.count)
            for key in keys { bytes.append(field: key) }
        }
    }

    /// The columns of `insert` as binary arrays, built straight from the records.
    private static func columns(
        _ records: [AttemptBatch.Record]
    ) -> (keys: [UInt8], fingerprints: [UInt8], moments: [UInt8], statuses: [UInt8]) {
        func column(of oid: UInt32, width: Int, _ append: (inout PackedBytes, AttemptBatch.Record) -> Void) -> [UInt8] {
            PackedBytes.build(capacity: PackedBytes.arrayHeaderBytes + records.count * (4 + width)) { bytes in
                bytes.appendArrayHeader(of: oid, count: records.count)
                for record in records { append(&bytes, record) }
            }
        }
        return (
            column(of: AttemptKey.oid, width: 16) { $0.append(field: $1.key) },
            column(of: AttemptKey.oid, width: 16) { $0.append(field: $1.fingerprint) },
            column(of: Timestamp.oid, width: 8) { $0.append(field: $1.attemptedAt) },
            column(of: 25, width: 16) { $0.append(field: $1.status.spelling) }
        )
    }

    /// Takes entries to the status of their report, if they still have the one that is known of them; the keys of those that had. A batch
    /// in progress that has one of them is waited for.
    static func advance(_ moves: [AttemptMove], on connection: BlockingConnection) throws -> Set<AttemptKey> {
        let ordered = moves.sorted { $0.entry.key < $1.entry.key }
        let rows = try connection.query(
            """
            UPDATE attemptLedger AS ledger SET status = moved.status
            FROM unnest(\(ordered.map(\.entry.key)), \(ordered.map(\.entry.generation)),
                        \(words: ordered.map(\.entry.known.status.rawValue))::pushStatus[],
                        \(words: ordered.map(\.record.status.rawValue))::pushStatus[]) AS moved (key, generation, was, status)
            WHERE ledger.attemptKey = moved.key AND ledger.generation = moved.generation AND ledger.status = moved.was
            RETURNING ledger.attemptKey
            """
        )
        return try Set(rows.map { try $0.decode(AttemptKey.self) })
    }
}

/// A stored attempt and the report that takes it forward.
struct AttemptMove {
    var entry: LedgerEntry
    var record: AttemptBatch.Record
}
