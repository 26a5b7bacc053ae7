import Postgres
package import PushContract

/// The binary COPY stream of new facts.
package enum FactCopy {
    static let statement = statement(into: "notificationDeliveryAttempts")

    /// The statement for the facts, or for a table like them.
    package static func statement(into table: String) -> String {
        "COPY \(table) (\(AttemptColumn.allNames)) FROM STDIN (FORMAT binary)"
    }

    /// Of a row without its texts: the column count, the lengths, the widest fixed values or words.
    private static let fixedBytes =
        2
        + AttemptColumn.layout.reduce(0) { bytes, entry in
            switch entry.encoding {
            case .text: bytes + 4
            case .integer: bytes + 4 + 4
            case .word: bytes + 4 + 24
            case .moment: bytes + 4 + 8
            case .key: bytes + 4 + 16
            case .labels: bytes + 4 + 2
            }
        }

    /// A whole batch as a stream.
    package static func stream(of batch: AttemptBatch, receivedAt: Timestamp) -> [UInt8] {
        stream(
            batch.records.indices.map { AttemptGroups.Insert(index: $0, attemptedAt: batch.records[$0].attemptedAt) },
            of: batch,
            receivedAt: receivedAt
        )
    }

    static func stream(_ inserts: [AttemptGroups.Insert], of batch: AttemptBatch, receivedAt: Timestamp) -> [UInt8] {
        let layout = AttemptColumn.layout
        // Pieces never overlap, so the block of text bounds what all of them take.
        let capacity = PackedBytes.copyHeaderBytes + inserts.count * fixedBytes + batch.text.count + 2
        return PackedBytes.build(capacity: capacity) { bytes in
            bytes.appendCopyHeader()
            batch.text.withUnsafeBufferPointer { text in
                for insert in inserts {
                    let record = batch.records[insert.index]
                    bytes.append(Int16(layout.count))
                    for entry in layout {
                        switch entry.encoding {
                        case .text(let slot): bytes.append(field: record.slots[slot], of: text)
                        case .integer(let slot): bytes.append(field: record.slots[slot].integer)
                        case .word: bytes.append(field: record.word(entry.column))
                        case .moment: bytes.append(field: entry.column == .receivedAt ? receivedAt : insert.attemptedAt)
                        case .key: bytes.append(field: record.key)
                        case .labels: bytes.append(field: Int16(record.folded.rawValue))
                        }
                    }
                }
            }
            bytes.append(Int16(-1))
        }
    }
}
