/// Finds in a text what may be a token: the one that was sent to, or whatever has the shape of one.
enum TokenRemoval {
    private static let replacement = "(token)"

    static func of(_ text: String, _ token: String) -> String {
        // Shorter texts hold no token. Almost all are.
        guard text.utf8.count >= 64 || !token.isEmpty && text.utf8.count >= token.utf8.count else { return text }
        var kept: [UInt8] = []
        var rest = text.utf8[...]
        while let first = rest.first {
            let run = rest.prefix(while: isTokenCharacter)
            if run.isEmpty {
                kept.append(first)
                rest = rest.dropFirst()
            } else {
                kept += mayBeToken(run, token) ? Array(replacement.utf8) : Array(run)
                rest = rest.dropFirst(run.count)
            }
        }
        return String(decoding: kept, as: UTF8.self)
    }

    private static func mayBeToken(_ run: Substring.UTF8View, _ token: String) -> Bool {
        if run.count >= 100 { return true }
        if !token.isEmpty, String(decoding: run, as: UTF8.self).lowercased().contains(token.lowercased()) { return true }
        return longestHexRun(run) >= 64
    }

    private static func longestHexRun(_ run: Substring.UTF8View) -> Int {
        var (longest, current) = (0, 0)
        for byte in run {
            current = isHexDigit(byte) ? current + 1 : 0
            longest = max(longest, current)
        }
        return longest
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): true
        default: false
        }
    }

    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ":"):
            true
        default: false
        }
    }
}
