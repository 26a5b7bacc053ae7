extension String {
    /// The text as a person may safely read it: what would reorder, hide or control what surrounds it is written out, `⟨U+202E⟩`.
    ///
    /// These are control characters but line breaks and tabs, and Unicode's bidirectional controls (UAX #9), separators of lines and
    /// paragraphs, and marks without a width. Joiners stay: scripts and emoji need them.
    package var visible: String {
        guard utf8.contains(where: { $0 >= 0x7F || $0 < 0x20 }), unicodeScalars.contains(where: Self.isInvisible) else { return self }
        var text = ""
        for scalar in unicodeScalars {
            if Self.isInvisible(scalar) {
                let digits = String(scalar.value, radix: 16, uppercase: true)
                text += "⟨U+\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)⟩"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A, 0x0D: false
        case 0x00...0x1F, 0x7F...0x9F, 0x061C, 0x200B, 0x200E, 0x200F, 0x2028...0x202E, 0x2060...0x2069, 0xFEFF: true
        default: false
        }
    }
}
