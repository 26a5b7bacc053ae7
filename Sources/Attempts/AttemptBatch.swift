package import PushContract

/// Checked attempts, packed: fixed-size records and one block of text. No object per attempt, nothing to count references of.
package struct AttemptBatch: Sendable {
    /// A piece of the block of text; `absent` is null.
    struct Piece: Sendable {
        var offset: UInt32
        var length: Int32

        static let absent = Piece(offset: 0, length: -1)
        var isAbsent: Bool { length < 0 }
    }

    struct Record: Sendable {
        var key: AttemptKey
        var fingerprint: AttemptKey
        var attemptedAt: Timestamp
        var platform: Platform
        var provider: Provider
        var eventType: EventType
        var status: AttemptStatus
        var reasonCode: ReasonCode?
        var environment: PushEnvironment?
        var latencyMs: Int32?
        var attemptId: Piece
        var uid: Piece
        var tokenHash: Piece
        var requestId: Piece
        var providerErrorCode: Piece = .absent
        var app: Piece = .absent
        var pushType: Piece = .absent
        var appVersion: Piece = .absent
        var providerMessageId: Piece = .absent
        var sendId: Piece = .absent
    }

    private(set) var records: [Record] = []
    private(set) var text: [UInt8] = []

    package init() {}

    package var count: Int { records.count }
    package var isEmpty: Bool { records.isEmpty }
    /// Nil of an empty batch.
    var oldestAttemptedAt: Timestamp? { records.lazy.map(\.attemptedAt).min() }
    /// What the batch holds in memory, room it has not filled included: for the buffer's bound.
    package var byteCount: Int { text.capacity + records.capacity * MemoryLayout<Record>.stride }

    mutating func reserveCapacity(records count: Int, text bytes: Int) {
        records.reserveCapacity(count)
        text.reserveCapacity(bytes)
    }

    mutating func append(_ record: Record) { records.append(record) }

    mutating func appendText(_ bytes: UnsafeBufferPointer<UInt8>) -> Piece {
        let piece = Piece(offset: UInt32(text.count), length: Int32(bytes.count))
        text.append(contentsOf: bytes)
        return piece
    }

    /// Forgets everything after the first `count` records and `bytes` bytes: an item turned out to be at fault.
    mutating func truncateText(to bytes: Int) { text.removeSubrange(bytes...) }

    /// Adds another request's records, to be written in the same transaction.
    mutating func append(contentsOf other: AttemptBatch) {
        let shift = UInt32(text.count)
        text.append(contentsOf: other.text)
        records.reserveCapacity(records.count + other.records.count)
        for record in other.records { records.append(record.shifted(by: shift)) }
    }

    func string(_ piece: Piece) -> String? {
        piece.isAbsent ? nil : String(decoding: bytes(piece), as: UTF8.self)
    }

    func bytes(_ piece: Piece) -> ArraySlice<UInt8> {
        piece.isAbsent ? [] : text[Int(piece.offset)..<Int(piece.offset) + Int(piece.length)]
    }

    /// The attempt at `index` as a value.
    package subscript(index: Int) -> Attempt {
        let record = records[index]
        return Attempt(
            attemptId: string(record.attemptId) ?? "",
            uid: string(record.uid) ?? "",
            platform: record.platform,
            provider: record.provider,
            // A record exists only with a well-formed hash.
            tokenHash: TokenHash(rawValue: string(record.tokenHash) ?? "")!,
            eventType: record.eventType,
            status: record.status,
            reasonCode: record.reasonCode,
            providerErrorCode: string(record.providerErrorCode),
            attemptedAt: record.attemptedAt,
            requestId: string(record.requestId) ?? "",
            app: string(record.app),
            environment: record.environment,
            pushType: string(record.pushType),
            appVersion: string(record.appVersion),
            providerMessageId: string(record.providerMessageId),
            latencyMs: record.latencyMs,
            sendId: string(record.sendId)
        )
    }
}

extension AttemptBatch.Record {
    func shifted(by shift: UInt32) -> Self {
        var copy = self
        copy.attemptId.offset += shift
        copy.uid.offset += shift
        copy.tokenHash.offset += shift
        copy.requestId.offset += shift
        copy.providerErrorCode.offset += shift
        copy.app.offset += shift
        copy.pushType.offset += shift
        copy.appVersion.offset += shift
        copy.providerMessageId.offset += shift
        copy.sendId.offset += shift
        return copy
    }
}
