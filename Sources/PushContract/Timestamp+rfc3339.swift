extension Timestamp {
    /// Reads an RFC 3339 date-time with an offset (`2026-02-12T09:30:00.25+01:00`, `…Z`).
    ///
    /// Digits past the microsecond are cut off. Leap seconds (`:60`) and missing offsets are refused.
    public init?(rfc3339 text: some StringProtocol) {
        let bytes = Array(text.utf8)
        let parsed = bytes.withUnsafeBufferPointer { Timestamp(rfc3339Bytes: $0) }
        guard let parsed else { return nil }
        self = parsed
    }

    /// The same, over UTF-8 bytes, without allocating: the form the ingestion path uses.
    package init?(rfc3339Bytes bytes: UnsafeBufferPointer<UInt8>) {
        var reader = RFC3339Reader(bytes: bytes)
        guard let parsed = reader.dateTime() else { return nil }
        self = parsed
    }

    /// RFC 3339 in UTC with six digits of fraction, or none when the moment is a whole second.
    public var rfc3339: String {
        let day = microseconds.flooredDivision(by: 86_400_000_000)
        let rest = microseconds - day * 86_400_000_000
        let (year, month, dayOfMonth) = Timestamp.civil(fromDays: day)
        let seconds = rest / 1_000_000
        let fraction = rest % 1_000_000
        return String(unsafeUninitializedCapacity: 40) { text in
            var end = 0
            func append(_ byte: UInt8) {
                text[end] = byte
                end += 1
            }
            func append(_ value: Int64, _ width: Int, _ separator: Unicode.Scalar) {
                if value < 0 { append(UInt8(ascii: "-")) }
                var (rest, unit, digits) = (value.magnitude, UInt64(10), 1)
                while digits < width || rest >= unit { (unit, digits) = (unit * 10, digits + 1) }
                for _ in 0..<digits {
                    unit /= 10
                    append(UInt8(ascii: "0") + UInt8(rest / unit))
                    rest %= unit
                }
                append(UInt8(ascii: separator))
            }
            append(year, 4, "-")
            append(month, 2, "-")
            append(dayOfMonth, 2, "T")
            append(seconds / 3600, 2, ":")
            append(seconds / 60 % 60, 2, ":")
            append(seconds % 60, 2, fraction == 0 ? "Z" : ".")
            if fraction != 0 { append(fraction, 6, "Z") }
            return end
        }
    }

    /// Days since 1970 of a proleptic Gregorian date (the usual era-based arithmetic).
    static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted.flooredDivision(by: 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    static func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = shifted.flooredDivision(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthIndex = (5 * dayOfYear + 2) / 153
        let month = monthIndex < 10 ? monthIndex + 3 : monthIndex - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthIndex + 2) / 5 + 1)
    }
}

extension Timestamp: CustomStringConvertible {
    /// RFC 3339 in UTC.
    public var description: String { rfc3339 }
}

extension Timestamp: Codable {
    /// Reads RFC 3339 text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let value = Timestamp(rfc3339: text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an RFC 3339 date-time with offset: \(text)")
        }
        self = value
    }

    /// Writes RFC 3339 text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rfc3339)
    }
}

/// A cursor over the bytes of one date-time.
private struct RFC3339Reader {
    let bytes: UnsafeBufferPointer<UInt8>
    var position = 0

    mutating func dateTime() -> Timestamp? {
        guard let year = digits(4), take("-"), let month = digits(2), take("-"), let day = digits(2),
            take("T") || take("t") || take(" "),
            let hour = digits(2), take(":"), let minute = digits(2), take(":"), let second = digits(2)
        else { return nil }
        guard year >= 1, (1...12).contains(month), day >= 1, day <= daysIn(month: month, year: year),
            hour <= 23, minute <= 59, second <= 59
        else { return nil }
        guard let fraction = optionalFraction(), let offset = offsetSeconds(), position == bytes.count else { return nil }
        let days = Timestamp.days(year: year, month: month, day: day)
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset
        return Timestamp(microseconds: seconds * 1_000_000 + fraction)
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(character.value) else { return false }
        position += 1
        return true
    }

    private mutating func digits(_ count: Int) -> Int64? {
        guard position + count <= bytes.count else { return nil }
        var value: Int64 = 0
        for index in position..<position + count {
            let digit = bytes[index] &- 48
            guard digit <= 9 else { return nil }
            value = value * 10 + Int64(digit)
        }
        position += count
        return value
    }

    /// Microseconds of the fraction; 0 if there is none; nil if no digit follows the dot.
    private mutating func optionalFraction() -> Int64? {
        guard take(".") else { return 0 }
        var value: Int64 = 0
        var scale: Int64 = 100_000
        let start = position
        while position < bytes.count, bytes[position] &- 48 <= 9 {
            value += Int64(bytes[position] &- 48) * scale
            scale /= 10
            position += 1
        }
        return position > start ? value : nil
    }

    private mutating func offsetSeconds() -> Int64? {
        if take("Z") || take("z") { return 0 }
        let sign: Int64
        if take("+") { sign = 1 } else if take("-") { sign = -1 } else { return nil }
        guard let hours = digits(2), take(":"), let minutes = digits(2), hours <= 23, minutes <= 59 else { return nil }
        return sign * (hours * 3600 + minutes * 60)
    }

    private func daysIn(month: Int64, year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
