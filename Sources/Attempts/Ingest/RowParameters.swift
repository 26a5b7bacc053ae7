import Postgres
import PushContract

/// Values of a row in their wire form, for the statements that run with every attempt: without the generic way of encoding, which across
/// modules costs more than the bytes.
extension Query.Parameter {
    /// A word of an enumeration in text form, whose type the statement determines: object ids differ between databases.
    static func word(_ word: StaticString?) -> Query.Parameter {
        guard let word else { return .null(oid: 0) }
        return .text(Array(UnsafeBufferPointer(word)))
    }

    /// A text of the batch. Binary, so that its end need not be searched for.
    static func text(_ piece: AttemptPiece, of batch: AttemptBatch) -> Query.Parameter {
        piece.isAbsent ? .null(oid: 25) : .binary(Array(batch.bytes(piece)), oid: 25)
    }

    static func key(_ key: AttemptKey) -> Query.Parameter {
        packed(16, oid: AttemptKey.oid) {
            $0.append(key.high)
            $0.append(key.low)
        }
    }

    static func moment(_ moment: Timestamp) -> Query.Parameter {
        packed(8, oid: Timestamp.oid) { $0.append(moment.microseconds &- Timestamp.postgresEpoch) }
    }

    static func number(_ number: Int64) -> Query.Parameter { packed(8, oid: Int64.oid) { $0.append(number) } }

    static func number(_ number: Int32?) -> Query.Parameter {
        guard let number else { return .null(oid: Int32.oid) }
        return packed(4, oid: Int32.oid) { $0.append(number) }
    }

    private static func packed(_ count: Int, oid: UInt32, _ body: (inout PackedBytes) -> Void) -> Query.Parameter {
        .binary(PackedBytes.build(capacity: count, body), oid: oid)
    }
}
