import Postgres
import PushContract

/// Enters keys that are most likely all new by COPY: half the work of `INSERT … ON CONFLICT`, which writes each row alone and confirms
/// it. One known key fails the whole, so it stands behind a savepoint.
enum LedgerCopy {
    /// Below this many rows the savepoint costs more than it saves.
    static let leastRows = 16

    /// Without the savepoint a known key fails the transaction.
    static let statement =
        "COPY attemptLedger (attemptKey, generation, fingerprint, attemptedAt, status) FROM STDIN (FORMAT binary)"

    /// False: at least one key was known, and nothing has happened. Waits, as any insert does, for a batch in flight with one of them.
    static func insert(_ records: [AttemptBatch.Record], generation: Int32, on connection: BlockingConnection) throws -> Bool {
        let bytes = stream(records, generation: generation)
        do {
            try bytes.withUnsafeBytes { _ = try connection.copyIn("SAVEPOINT beforeLedger; " + statement, data: $0) }
            return true
        } catch let error as PostgresError where error.code == .uniqueViolation {
            try connection.executeScript("ROLLBACK TO SAVEPOINT beforeLedger")
            return false
        }
    }

    static func stream(_ records: [AttemptBatch.Record], generation: Int32) -> [UInt8] {
        PackedBytes.build(capacity: PackedBytes.copyHeaderBytes + records.count * 96 + 2) { bytes in
            bytes.appendCopyHeader()
            for record in records {
                bytes.append(Int16(5))
                bytes.append(field: record.key)
                bytes.append(field: generation)
                bytes.append(field: record.fingerprint)
                bytes.append(field: record.attemptedAt)
                bytes.append(field: record.status.spelling)
            }
            bytes.append(Int16(-1))
        }
    }
}
