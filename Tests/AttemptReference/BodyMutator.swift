/// Makes new bodies out of known ones, with a seed: the same seed gives the same bodies on every machine.
package struct BodyMutator {
    private let corpus: [[UInt8]]
    private var state: UInt64

    package init(seed: UInt64, corpus: [[UInt8]] = ParserCorpus.all.map(\.bytes).filter { $0.count < 4_000 }) {
        state = seed
        self.corpus = corpus
    }

    /// One body, changed in one to six places.
    package mutating func next() -> [UInt8] {
        var body = pick(corpus)
        if below(4) == 0 { body = array() }
        for _ in 0..<1 + below(6) { mutate(&body) }
        if below(64) == 0 { stretch(&body) }
        return body
    }

    /// Blanks up to about the size of an item that is just taken, or just not.
    private mutating func stretch(_ body: inout [UInt8]) {
        let blanks = ReferenceReader.longestItem - 600 + below(800)
        body.insert(contentsOf: repeatElement(UInt8(ascii: " "), count: blanks), at: below(body.count + 1))
    }

    /// Lines of known bodies, some of them changed.
    package mutating func nextLines() -> [UInt8] {
        var body: [UInt8] = []
        for _ in 0..<below(6) {
            var line = pick(corpus)
            if below(2) == 0 { mutate(&line) }
            if below(256) == 0 { stretch(&line) }
            body += line + pick([[0x0A], [0x0D, 0x0A], [0x0A, 0x0A], [0x20, 0x0A], []])
        }
        return body
    }

    private mutating func array() -> [UInt8] {
        var body: [UInt8] = [UInt8(ascii: "[")]
        for place in 0..<below(5) {
            if place > 0 { body.append(UInt8(ascii: ",")) }
            body += pick(corpus)
        }
        return body + [UInt8(ascii: "]")]
    }

    private mutating func mutate(_ body: inout [UInt8]) {
        let place = below(body.count + 1)
        switch below(8) {
        case 0 where place < body.count: body[place] ^= 1 << UInt8(below(8))
        case 1 where place < body.count: body[place] = UInt8(below(256))
        case 2: body.insert(contentsOf: pick(BodyMutator.tokens), at: place)
        case 3: body.removeSubrange(place..<min(body.count, place + 1 + below(8)))
        case 4:
            // A piece of itself, somewhere else.
            let end = min(body.count, place + below(40))
            body.insert(contentsOf: Array(body[place..<end]), at: below(body.count + 1))
        case 5: body.removeSubrange(place...)
        case 6 where place < body.count:
            let token = pick(BodyMutator.tokens)
            body.replaceSubrange(place..<min(body.count, place + token.count), with: token)
        default:
            // The head of one and the tail of another.
            let other = pick(corpus)
            body = Array(body[..<place]) + Array(other[below(other.count + 1)...])
        }
    }

    private static let tokens: [[UInt8]] =
        [
            "\"", "\\", "{", "}", "[", "]", ":", ",", "null", "true", "0", "-", "1e308", "1e309", "e", ".", "\\u", "\\u0000", "\\uD83D",
            "\\uDE00", "\\ud800", "\\\"", "\\\\", " ", "\n", "\r", "\t", "\u{0}", "\u{1F}", "\u{7F}", "\u{80}", "\u{FEFF}", "é", "😀",
            "18446744073709551616", "9223372036854775807", "\"uid\":", "\"reasonCode\":null,", "\"latencyMs\":7,", "[[[[[[[[[[[[[[[[",
            "2147483648", "-0", "sha256:", "failed", "deactivated", "android", "web", "fcm",
        ].map { Array($0.utf8) } + [[0x80], [0xC3], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xFF], [0xC2, 0x85]]

    private mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    private mutating func below(_ bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ (mixed >> 31)) % UInt64(bound))
    }
}
