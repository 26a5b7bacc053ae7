/// One minute of UTC time, counted from 1970. All decisions are made on whole minutes.
package struct Minute: Sendable, Hashable, Comparable {
    /// Minutes since 1970-01-01T00:00Z.
    package var index: Int64

    package init(_ index: Int64) { self.index = index }

    /// The minute that contains this second since 1970.
    package init(containingSecond second: Int64) {
        index = second >= 0 ? second / 60 : (second - 59) / 60
    }

    /// The first second of the minute since 1970.
    package var second: Int64 { index * 60 }

    /// The UTC day of the minute, counted from 1970.
    package var day: Int64 { index >= 0 ? index / 1440 : (index - 1439) / 1440 }

    package static func < (a: Minute, b: Minute) -> Bool { a.index < b.index }
    package static func + (minute: Minute, count: Int) -> Minute { Minute(minute.index + Int64(count)) }
    package static func - (minute: Minute, count: Int) -> Minute { Minute(minute.index - Int64(count)) }
    package static func - (a: Minute, b: Minute) -> Int { Int(a.index - b.index) }

    package static func firstOf(day: Int64) -> Minute { Minute(day * 1440) }
}

extension Minute: Codable {
    package init(from decoder: any Decoder) throws {
        index = try decoder.singleValueContainer().decode(Int64.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(index)
    }
}

extension Minute {
    /// As in `03:20 UTC`.
    package var clock: String { String(description.suffix(9)) }
}

extension Minute: CustomStringConvertible {
    /// The start of the minute, as in `2026-01-05 03:20 UTC`.
    package var description: String {
        let (year, month, date) = Self.civil(day: day)
        let minuteOfDay = index - day * 1440
        let fields = [(year, 4), (month, 2), (date, 2), (minuteOfDay / 60, 2), (minuteOfDay % 60, 2)].map { value, width in
            String(repeating: "0", count: max(0, width - String(value).count)) + String(value)
        }
        return "\(fields[0])-\(fields[1])-\(fields[2]) \(fields[3]):\(fields[4]) UTC"
    }

    /// Proleptic Gregorian date of a day counted from 1970 (days are grouped into 400-year eras that begin on 1 March).
    private static func civil(day: Int64) -> (year: Int64, month: Int64, date: Int64) {
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }
}
