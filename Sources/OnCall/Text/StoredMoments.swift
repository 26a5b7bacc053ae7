import PushContract

/// Sentences that were stored with moments in them (an alert's meaning, an entry of the audit), for a reader with a clock of their own.
enum StoredMoments {
    /// Writes `2026-03-10T12:12:00.5Z` and `2026-03-10 12:12 UTC` as pages write a moment; all else stays as it is.
    static func text(_ sentence: String, now: Timestamp) -> String {
        let bytes = Array(sentence.utf8)
        var written: [UInt8] = []
        written.reserveCapacity(bytes.count + 16)
        var offset = 0
        while offset < bytes.count {
            if let (moment, length) = moment(bytes[offset...]) {
                written += ClockText.moment(moment, now: now).utf8
                offset += length
            } else {
                written.append(bytes[offset])
                offset += 1
            }
        }
        return String(decoding: written, as: UTF8.self)
    }

    /// The moment that the text begins with, and its length in the text.
    private static func moment(_ text: ArraySlice<UInt8>) -> (Timestamp, Int)? {
        // 0 means any digit.
        let day = Array("0000-00-00".utf8)
        guard text.count > 16, zip(text, day).allSatisfy({ $1 == UInt8(ascii: "0") ? isDigit($0) : $0 == $1 }) else { return nil }
        let rest = text.dropFirst(day.count)
        if rest.first == UInt8(ascii: " ") {
            let length = "2026-03-10 12:12 UTC".utf8.count
            guard rest.dropFirst(6).starts(with: " UTC".utf8) else { return nil }
            let words = String(decoding: text.prefix(16), as: UTF8.self).replacing(" ", with: "T") + ":00Z"
            return Timestamp(rfc3339: words).map { ($0, length) }
        }
        guard rest.first == UInt8(ascii: "T"), let end = rest.prefix(18).firstIndex(of: UInt8(ascii: "Z")) else { return nil }
        return Timestamp(rfc3339: String(decoding: text[...end], as: UTF8.self)).map { ($0, end - text.startIndex + 1) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
