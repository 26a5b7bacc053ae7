import Postgres
package import PushContract

/// Builds the binary COPY stream of new facts.
package struct FactCopy {
    static let statement = statement(into: "notificationDeliveryAttempts")

    /// The statement for the facts, or for a table like them.
    package static func statement(into table: String) -> String {
        """
        COPY \(table) (attemptId, uid, platform, provider, tokenHash, eventType, status, reasonCode,
            providerErrorCode, attemptedAt, requestId, app, environment, pushType, appVersion, providerMessageId, latencyMs, sendId,
            receivedAt, attemptKey) FROM STDIN (FORMAT binary)
        """
    }

    /// A whole batch as a stream.
    package static func stream(of batch: AttemptBatch, receivedAt: Timestamp) -> [UInt8] {
        var copy = FactCopy(receivedAt: receivedAt, capacity: batch.count)
        for record in batch.records { copy.append(record, attemptedAt: record.attemptedAt, of: batch) }
        return copy.finished()
    }

    private static let columns: Int16 = 20

    private var bytes: [UInt8] = []
    private let receivedAt: Timestamp

    init(receivedAt: Timestamp, capacity: Int) {
        self.receivedAt = receivedAt
        bytes.reserveCapacity(64 + capacity * 420)
        bytes.append(contentsOf: [0x50, 0x47, 0x43, 0x4F, 0x50, 0x59, 0x0A, 0xFF, 0x0D, 0x0A, 0x00])
        bytes.appendBigEndian(Int32(0))
        bytes.appendBigEndian(Int32(0))
    }

    mutating func append(_ record: AttemptBatch.Record, attemptedAt: Timestamp, of batch: AttemptBatch) {
        bytes.appendBigEndian(FactCopy.columns)
        append(record.attemptId, of: batch)
        append(record.uid, of: batch)
        append(record.platform.spelling)
        append(record.provider.spelling)
        append(record.tokenHash, of: batch)
        append(record.eventType.spelling)
        append(record.status.spelling)
        append(record.reasonCode?.spelling)
        append(record.providerErrorCode, of: batch)
        append(attemptedAt)
        append(record.requestId, of: batch)
        append(record.app, of: batch)
        append(record.environment?.spelling)
        append(record.pushType, of: batch)
        append(record.appVersion, of: batch)
        append(record.providerMessageId, of: batch)
        if let latency = record.latencyMs {
            bytes.appendBigEndian(Int32(4))
            bytes.appendBigEndian(latency)
        } else {
            appendNull()
        }
        append(record.sendId, of: batch)
        append(receivedAt)
        bytes.appendBigEndian(Int32(16))
        record.key.encode(into: &bytes)
    }

    mutating func finished() -> [UInt8] {
        bytes.appendBigEndian(Int16(-1))
        return bytes
    }

    private mutating func append(_ piece: AttemptBatch.Piece, of batch: AttemptBatch) {
        bytes.appendBigEndian(piece.length)
        bytes.append(contentsOf: batch.bytes(piece))
    }

    private mutating func append(_ spelling: StaticString?) {
        guard let spelling else { return appendNull() }
        bytes.appendBigEndian(Int32(spelling.utf8CodeUnitCount))
        bytes.append(contentsOf: UnsafeBufferPointer<UInt8>(spelling))
    }

    private mutating func append(_ moment: Timestamp) {
        bytes.appendBigEndian(Int32(8))
        moment.encode(into: &bytes)
    }

    private mutating func appendNull() { bytes.appendBigEndian(Int32(-1)) }
}
