import Crypto
import Postgres

/// 128 bits of a SHA-256, as the database's `uuid`: the ledger's key of an attemptId, and the fingerprint of its content.
package struct AttemptKey: Sendable, Hashable, Comparable {
    let high: UInt64
    let low: UInt64

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The key of an attemptId.
    package init(attemptId: String) {
        var text = attemptId
        self = text.withUTF8 { AttemptKey(hashing: UnsafeRawBufferPointer($0)) }
    }

    init(hashing bytes: UnsafeRawBufferPointer) {
        self = SHA256.hash(data: bytes).withUnsafeBytes { AttemptKey(bytes: $0) }
    }

    /// Whether the first 128 bits of a well-formed `sha256:…` are this key's.
    func begins(_ tokenHash: UnsafeBufferPointer<UInt8>) -> Bool {
        func number(from start: Int) -> UInt64 {
            tokenHash[start..<start + 16].reduce(0) { $0 << 4 | UInt64($1 & 15) + ($1 > 0x39 ? 9 : 0) }
        }
        return number(from: 7) == high && number(from: 23) == low
    }

    init(bytes: UnsafeRawBufferPointer) {
        high = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
        low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    /// The order `uuid` has in PostgreSQL, which is the order every batch takes its locks in.
    package static func < (lhs: AttemptKey, rhs: AttemptKey) -> Bool {
        lhs.high != rhs.high ? lhs.high < rhs.high : lhs.low < rhs.low
    }
}

extension AttemptKey: PostgresCodable, ColumnDecodable {
    package static var oid: UInt32 { 2950 }
    package static var arrayOID: UInt32 { 2951 }
    package func encode(into bytes: inout [UInt8]) {
        bytes.appendBigEndian(high)
        bytes.appendBigEndian(low)
    }
    package init?(postgres bytes: UnsafeRawBufferPointer, oid: UInt32) {
        guard bytes.count == 16 else { return nil }
        self.init(bytes: bytes)
    }
}
