package import PushContract

/// Checked attempts, packed: fixed-size records and one block of text. No object per attempt, nothing to count references of.
package struct AttemptBatch: Sendable {
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
        var slots: AttemptSlots
        var folded: FoldedLabels = []

        subscript(column: AttemptColumn) -> AttemptPiece { slots[column.slot] }
        var latencyMs: Int32? { self[.latencyMs].integer }
    }

    private(set) var records: [Record] = []
    private(set) var text: [UInt8] = []

    package init() {}

    package var count: Int { records.count }
    package var isEmpty: Bool { records.isEmpty }
    /// Nil of an empty batch.
    var oldestAttemptedAt: Timestamp? { records.lazy.map(\.attemptedAt).min() }
    /// The memory that the batch takes, with the capacity it has not filled: for the buffer's limit.
    package var byteCount: Int { text.capacity + records.capacity * MemoryLayout<Record>.stride }

    mutating func reserveCapacity(records count: Int, text bytes: Int) {
        records.reserveCapacity(count)
        text.reserveCapacity(bytes)
    }

    /// Adds the record that `build` makes; nothing of it stays when it throws.
    mutating func append(_ build: (inout AttemptBatch) throws(AttemptFault) -> Record) throws(AttemptFault) {
        let mark = text.count
        do throws(AttemptFault) {
            records.append(try build(&self))
        } catch {
            text.removeSubrange(mark...)
            throw error
        }
    }

    mutating func appendText(_ bytes: UnsafeBufferPointer<UInt8>) -> AttemptPiece {
        let piece = AttemptPiece(offset: UInt32(text.count), length: Int32(bytes.count))
        text.append(contentsOf: bytes)
        return piece
    }

    /// Adds another request's records, to be written in the same transaction.
    mutating func append(contentsOf other: AttemptBatch) {
        let shift = UInt32(text.count)
        text.append(contentsOf: other.text)
        records.reserveCapacity(records.count + other.records.count)
        let slots = AttemptColumn.textSlots
        for var record in other.records {
            for slot in slots { record.slots[slot].offset += shift }
            records.append(record)
        }
    }

    /// Removes the records at these indices; their text stays until the batch is written.
    mutating func remove(at removed: Set<Int>) {
        records = records.enumerated().filter { !removed.contains($0.offset) }.map(\.element)
    }

    /// Sets which labels of each record are folded.
    mutating func fold(_ labels: (Record, UnsafeBufferPointer<UInt8>) -> FoldedLabels) {
        text.withUnsafeBufferPointer { text in
            for index in records.indices {
                let folded = labels(records[index], text)
                if folded != records[index].folded { records[index].folded = folded }
            }
        }
    }

    func string(_ piece: AttemptPiece) -> String? {
        piece.isAbsent ? nil : String(decoding: bytes(piece), as: UTF8.self)
    }

    func bytes(_ piece: AttemptPiece) -> ArraySlice<UInt8> {
        piece.isAbsent ? [] : text[Int(piece.offset)..<Int(piece.offset) + Int(piece.length)]
    }

    /// The attempt at `index` as a value.
    package subscript(index: Int) -> Attempt {
        let record = records[index]
        func required(_ column: AttemptColumn) -> String { string(record[column]) ?? "" }
        var attempt = Attempt(
            attemptId: required(.attemptId),
            uid: required(.uid),
            platform: record.platform,
            provider: record.provider,
            // A record exists only with a well-formed hash.
            tokenHash: TokenHash(rawValue: required(.tokenHash))!,
            eventType: record.eventType,
            status: record.status,
            reasonCode: record.reasonCode,
            attemptedAt: record.attemptedAt,
            requestId: required(.requestId),
            environment: record.environment
        )
        for column in AttemptColumn.optionals {
            switch column.definition.kind {
            case .optionalText(_, let field): field.set(&attempt, string(record[column]))
            case .optionalInteger(let field): field.set(&attempt, record[column].integer)
            case .text, .word, .moment, .key, .labels: break
            }
        }
        return attempt
    }
}
