import FuzzSupport

/// Makes new bodies out of known ones, with a seed: the same seed gives the same bodies on every machine.
package struct BodyMutator {
    private var bytes: ByteMutator

    package init(seed: UInt64, corpus: [[UInt8]] = ParserCorpus.all.map(\.bytes).filter { $0.count < 4_000 }) {
        bytes = ByteMutator(seed: seed, corpus: corpus, tokens: BodyMutator.tokens)
    }

    /// One body, changed in one to six places.
    package mutating func next() -> [UInt8] {
        var body = bytes.random.pick(bytes.corpus)
        if bytes.random.next(4) == 0 { body = array() }
        for _ in 0..<1 + bytes.random.next(6) { bytes.mutate(&body) }
        if bytes.random.next(64) == 0 { stretch(&body) }
        return body
    }

    /// Blanks up to about the size of an item that is just taken, or just not.
    private mutating func stretch(_ body: inout [UInt8]) {
        let blanks = ReferenceReader.longestItem - 600 + bytes.random.next(800)
        body.insert(contentsOf: repeatElement(UInt8(ascii: " "), count: blanks), at: bytes.random.next(body.count + 1))
    }

    /// Lines of known bodies, some of them changed.
    package mutating func nextLines() -> [UInt8] {
        var body: [UInt8] = []
        for _ in 0..<bytes.random.next(6) {
            var line = bytes.random.pick(bytes.corpus)
            if bytes.random.next(2) == 0 { bytes.mutate(&line) }
            if bytes.random.next(256) == 0 { stretch(&line) }
            body += line + bytes.random.pick([[0x0A], [0x0D, 0x0A], [0x0A, 0x0A], [0x20, 0x0A], []])
        }
        return body
    }

    private mutating func array() -> [UInt8] {
        var body: [UInt8] = [UInt8(ascii: "[")]
        for place in 0..<bytes.random.next(5) {
            if place > 0 { body.append(UInt8(ascii: ",")) }
            body += bytes.random.pick(bytes.corpus)
        }
        return body + [UInt8(ascii: "]")]
    }

    private static let tokens: [[UInt8]] =
        [
            "\"", "\\", "{", "}", "[", "]", ":", ",", "null", "true", "0", "-", "1e308", "1e309", "e", ".", "\\u", "\\u0000", "\\uD83D",
            "\\uDE00", "\\ud800", "\\\"", "\\\\", " ", "\n", "\r", "\t", "\u{0}", "\u{1F}", "\u{7F}", "\u{80}", "\u{FEFF}", "é", "😀",
            "18446744073709551616", "9223372036854775807", "\"uid\":", "\"reasonCode\":null,", "\"latencyMs\":7,", "[[[[[[[[[[[[[[[[",
            "2147483648", "-0", "sha256:", "failed", "deactivated", "android", "web", "fcm",
        ].map { Array($0.utf8) } + [[0x80], [0xC3], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xFF], [0xC2, 0x85]]
}
