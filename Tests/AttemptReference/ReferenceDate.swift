import PushContract

/// RFC 3339 date-times read by a pattern and by counting days one year and one month at a time.
enum ReferenceDate {
    static func read(_ text: String) -> Timestamp? {
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let pattern = /(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))/
        guard let match = text.wholeMatch(of: pattern)?.output,
            let year = Int64(match.1), let month = Int(match.2), let day = Int64(match.3),
            let hour = Int64(match.4), let minute = Int64(match.5), let second = Int64(match.6)
        else { return nil }
        guard year >= 1, (1...12).contains(month), (1...length(month, year)).contains(day), hour < 24, minute < 60, second < 60 else {
            return nil
        }
        var offset: Int64 = 0
        if let sign = match.8, let hours = match.9.flatMap({ Int64($0) }), let minutes = match.10.flatMap({ Int64($0) }) {
            guard hours < 24, minutes < 60 else { return nil }
            offset = (hours * 60 + minutes) * (sign == "-" ? -60 : 60)
        }
        let fraction = Int64(((match.7 ?? "") + "000000").prefix(6)) ?? 0
        let seconds = ((days(before: year, month) + day - 1) * 24 + hour) * 3600 + minute * 60 + second - offset
        return Timestamp(microseconds: seconds * 1_000_000 + fraction)
    }

    /// Days from 1970-01-01 to the first of the month.
    private static func days(before year: Int64, _ month: Int) -> Int64 {
        var days: Int64 = 0
        var passing = min(year, 1970)
        while passing < max(year, 1970) {
            days += isLeap(passing) ? 366 : 365
            passing += 1
        }
        if year < 1970 { days = -days }
        for passing in 1..<month { days += length(passing, year) }
        return days
    }

    private static func isLeap(_ year: Int64) -> Bool { year % 400 == 0 || (year % 4 == 0 && year % 100 != 0) }

    private static func length(_ month: Int, _ year: Int64) -> Int64 {
        [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
    }
}
