import Postgres
package import PushContract

/// The binary COPY stream of new facts.
package enum FactCopy {
    static let statement = statement(into: "notificationDeliveryAttempts")

    /// The statement for the facts, or for a table like them.
    package static func statement(into table: String) -> String {
        """
        COPY \(table) (attemptId, uid, platform, provider, tokenHash, eventType, status, reasonCode,
            providerErrorCode, attemptedAt, requestId, app, environment, pushType, appVersion, providerMessageId, latencyMs, sendId,
            receivedAt, attemptKey) FROM STDIN (FORMAT binary)
        """
    }
    private static let columns: Int16 = 20
    /// Of a row without its texts: the column count, twenty lengths, the fixed values, and the longest word of each enumeration.
    private static let fixedBytes = 2 + 20 * 4 + 16 + 8 + 8 + 4 + 64

    /// A whole batch as a stream.
    package static func stream(of batch: AttemptBatch, receivedAt: Timestamp) -> [UInt8] {
        stream(
            batch.records.indices.map { AttemptGroups.Insert(index: $0, attemptedAt: batch.records[$0].attemptedAt) },
            of: batch,
            receivedAt: receivedAt
        )
    }

    static func stream(_ inserts: [AttemptGroups.Insert], of batch: AttemptBatch, receivedAt: Timestamp) -> [UInt8] {
        // Pieces never overlap, so the block of text bounds what all of them take.
        let capacity = PackedBytes.copyHeaderBytes + inserts.count * fixedBytes + batch.text.count + 2
        return PackedBytes.build(capacity: capacity) { bytes in
            bytes.appendCopyHeader()
            batch.text.withUnsafeBufferPointer { text in
                for insert in inserts {
                    append(batch.records[insert.index], insert.attemptedAt, receivedAt, text, to: &bytes)
                }
            }
            bytes.append(Int16(-1))
        }
    }

    private static func append(
        _ record: AttemptBatch.Record,
        _ attemptedAt: Timestamp,
        _ receivedAt: Timestamp,
        _ text: UnsafeBufferPointer<UInt8>,
        to bytes: inout PackedBytes
    ) {
        bytes.append(columns)
        bytes.append(field: record.attemptId, of: text)
        bytes.append(field: record.uid, of: text)
        bytes.append(field: record.platform.spelling)
        bytes.append(field: record.provider.spelling)
        bytes.append(field: record.tokenHash, of: text)
        bytes.append(field: record.eventType.spelling)
        bytes.append(field: record.status.spelling)
        bytes.append(field: record.reasonCode?.spelling)
        bytes.append(field: record.providerErrorCode, of: text)
        bytes.append(field: attemptedAt)
        bytes.append(field: record.requestId, of: text)
        bytes.append(field: record.app, of: text)
        bytes.append(field: record.environment?.spelling)
        bytes.append(field: record.pushType, of: text)
        bytes.append(field: record.appVersion, of: text)
        bytes.append(field: record.providerMessageId, of: text)
        bytes.append(field: record.latencyMs)
        bytes.append(field: record.sendId, of: text)
        bytes.append(field: receivedAt)
        bytes.append(field: record.key)
    }
}
