import Postgres
import PushContract

/// New facts as one prepared statement over arrays: for batches so small that COPY's own statement costs more than the rows.
enum FactInsert {
    static func query(_ batch: AttemptBatch, receivedAt: Timestamp) -> Query {
        let records = batch.records
        func texts(_ piece: KeyPath<AttemptBatch.Record, AttemptBatch.Piece>) -> Query.Parameter {
            .binary(column(of: piece, in: batch), oid: String.arrayOID)
        }
        func words(_ word: (AttemptBatch.Record) -> StaticString?) -> Query.Parameter {
            .text(PackedBytes.words(count: records.count) { word(records[$0]) })
        }
        return Query(
            statement,
            [
                texts(\.attemptId), texts(\.uid), words(\.platform.spelling), words(\.provider.spelling), texts(\.tokenHash),
                words(\.eventType.spelling), words(\.status.spelling), words { $0.reasonCode?.spelling }, texts(\.providerErrorCode),
                .binary(fixed(of: Timestamp.oid, records, 8) { $0.append(field: $1.attemptedAt) }, oid: Timestamp.arrayOID),
                texts(\.requestId), texts(\.app), words { $0.environment?.spelling }, texts(\.pushType), texts(\.appVersion),
                texts(\.providerMessageId),
                .binary(fixed(of: Int32.oid, records, 4) { $0.append(field: $1.latencyMs) }, oid: Int32.arrayOID),
                texts(\.sendId), .value(receivedAt),
                .binary(fixed(of: AttemptKey.oid, records, 16) { $0.append(field: $1.key) }, oid: AttemptKey.arrayOID),
            ]
        )
    }

    private static let statement: StaticString = """
        INSERT INTO notificationDeliveryAttempts (attemptId, uid, platform, provider, tokenHash, eventType, status, reasonCode,
            providerErrorCode, attemptedAt, requestId, app, environment, pushType, appVersion, providerMessageId, latencyMs, sendId,
            receivedAt, attemptKey)
        SELECT attemptId, uid, platform, provider, tokenHash, eventType, status, reasonCode, providerErrorCode, attemptedAt, requestId, app,
            environment, pushType, appVersion, providerMessageId, latencyMs, sendId, $19, attemptKey
        FROM unnest($1, $2, $3::pushPlatform[], $4::pushProvider[], $5, $6::pushEventType[], $7::pushStatus[], $8::pushReason[], $9, $10,
                $11, $12, $13::pushEnvironment[], $14, $15, $16, $17, $18, $20)
            AS new (attemptId, uid, platform, provider, tokenHash, eventType, status, reasonCode, providerErrorCode, attemptedAt, requestId,
                    app, environment, pushType, appVersion, providerMessageId, latencyMs, sendId, attemptKey)
        """

    /// One text of every record as an array.
    private static func column(of piece: KeyPath<AttemptBatch.Record, AttemptBatch.Piece>, in batch: AttemptBatch) -> [UInt8] {
        let length = batch.records.reduce(0) { $0 + max(0, Int($1[keyPath: piece].length)) }
        return PackedBytes.build(capacity: PackedBytes.arrayHeaderBytes + batch.count * 4 + length) { bytes in
            bytes.appendArrayHeader(of: 25, count: batch.count)
            batch.text.withUnsafeBufferPointer { text in
                for record in batch.records { bytes.append(field: record[keyPath: piece], of: text) }
            }
        }
    }

    private static func fixed(
        of oid: UInt32,
        _ records: [AttemptBatch.Record],
        _ width: Int,
        _ append: (inout PackedBytes, AttemptBatch.Record) -> Void
    ) -> [UInt8] {
        PackedBytes.build(capacity: PackedBytes.arrayHeaderBytes + records.count * (4 + width)) { bytes in
            bytes.appendArrayHeader(of: oid, count: records.count)
            for record in records { append(&bytes, record) }
        }
    }
}
