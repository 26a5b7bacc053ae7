/// Makes new inputs out of known ones.
package struct ByteMutator: Sendable {
    package let corpus: [[UInt8]]
    /// Pieces that the grammar of the inputs gives a meaning to.
    private let tokens: [[UInt8]]
    package var random: Seeded

    package init(seed: UInt64, corpus: [[UInt8]], tokens: [[UInt8]]) {
        self.corpus = corpus
        self.tokens = tokens
        random = Seeded(seed: seed)
    }

    /// A known input, changed in up to `changes` places.
    package mutating func next(changes: Int = 6) -> [UInt8] {
        var bytes = random.pick(corpus)
        for _ in 0..<random.next(changes + 1) { mutate(&bytes) }
        return bytes
    }

    package mutating func mutate(_ bytes: inout [UInt8]) {
        let place = random.next(bytes.count + 1)
        switch random.next(8) {
        case 0 where place < bytes.count: bytes[place] ^= 1 << UInt8(random.next(8))
        case 1 where place < bytes.count: bytes[place] = UInt8(random.next(256))
        case 2: bytes.insert(contentsOf: random.pick(tokens), at: place)
        case 3: bytes.removeSubrange(place..<min(bytes.count, place + 1 + random.next(8)))
        case 4:
            // A piece of itself, somewhere else.
            let end = min(bytes.count, place + random.next(40))
            bytes.insert(contentsOf: Array(bytes[place..<end]), at: random.next(bytes.count + 1))
        case 5: bytes.removeSubrange(place...)
        case 6 where place < bytes.count:
            let token = random.pick(tokens)
            bytes.replaceSubrange(place..<min(bytes.count, place + token.count), with: token)
        default:
            // The head of one and the tail of another.
            let other = random.pick(corpus)
            bytes = Array(bytes[..<place]) + Array(other[random.next(other.count + 1)...])
        }
    }
}
