/// A piece of a batch's block of text, or an integer; `absent` is null.
struct AttemptPiece: Sendable {
    var offset: UInt32
    var length: Int32

    static let absent = AttemptPiece(offset: 0, length: -1)
    var isAbsent: Bool { length < 0 }

    init(offset: UInt32, length: Int32) {
        self.offset = offset
        self.length = length
    }

    init(_ integer: Int32?) {
        self = integer.map { AttemptPiece(offset: UInt32(bitPattern: $0), length: 0) } ?? .absent
    }

    var integer: Int32? { isAbsent ? nil : Int32(bitPattern: offset) }
}

/// The texts and integers of one record, in place: an array would be an allocation for every attempt.
struct AttemptSlots: Sendable {
    static let capacity = 12

    private typealias Piece = AttemptPiece
    private var pieces: (Piece, Piece, Piece, Piece, Piece, Piece, Piece, Piece, Piece, Piece, Piece, Piece) = (
        .absent, .absent, .absent, .absent, .absent, .absent, .absent, .absent, .absent, .absent, .absent, .absent
    )

    subscript(slot: Int) -> AttemptPiece {
        get {
            assert(0..<AttemptSlots.capacity ~= slot)
            return withUnsafeBytes(of: pieces) { $0.load(fromByteOffset: slot * MemoryLayout<Piece>.stride, as: Piece.self) }
        }
        set {
            assert(0..<AttemptSlots.capacity ~= slot)
            withUnsafeMutableBytes(of: &pieces) {
                $0.storeBytes(of: newValue, toByteOffset: slot * MemoryLayout<Piece>.stride, as: Piece.self)
            }
        }
    }
}
