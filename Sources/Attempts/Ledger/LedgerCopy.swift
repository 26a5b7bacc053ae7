import Postgres
import PushContract

/// Enters keys that are most likely all new by COPY: half the work of `INSERT … ON CONFLICT`, which writes each row alone and confirms
/// it. One known key fails the whole transaction.
enum LedgerCopy {
    static let statement =
        "COPY attemptLedger (attemptKey, generation, fingerprint, attemptedAt, status) FROM STDIN (FORMAT binary)"

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
