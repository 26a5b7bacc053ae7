import PushContract

/// Moments as people read them: in UTC, and in parentheses as the reader's own clock shows them, where that is known and differs.
enum ClockText {
    /// `02:41 UTC` of the same day as `now`, else `2026-11-20 23:10 UTC`; for a reader in Berlin `02:41 UTC (03:41 Berlin)`.
    static func moment(_ moment: Timestamp, now: Timestamp) -> String { text(moment, now: now, time) }

    /// The same to the second.
    static func exact(_ moment: Timestamp, now: Timestamp) -> String { text(moment, now: now, timeWithSeconds) }

    /// `02:12 to 02:41 UTC`.
    static func span(_ from: Timestamp, to: Timestamp, now: Timestamp) -> String {
        let day = date(to) == date(now) && date(from) == date(to)
        let utc = "\(day ? time(from) : "\(date(from)) \(time(from))") to \(day ? time(to) : "\(date(to)) \(time(to))") UTC"
        guard let zone = ReaderZone.current, let own = zone.wallClock(from), let end = zone.wallClock(to) else { return utc }
        return "\(utc) (\(time(own)) to \(time(end)) \(zone.city))"
    }

    /// `02:41`, in UTC.
    static func time(_ moment: Timestamp) -> String { slice(moment, 11..<16) }

    /// `02:41:07`, in UTC.
    static func timeWithSeconds(_ moment: Timestamp) -> String { slice(moment, 11..<19) }

    /// `2026-11-21`, in UTC.
    static func date(_ moment: Timestamp) -> String { slice(moment, 0..<10) }

    /// `(03:41:07 Berlin)`; nil without a zone that differs from UTC.
    static func own(_ moment: Timestamp) -> String? {
        guard let zone = ReaderZone.current, let own = zone.wallClock(moment) else { return nil }
        return "(\(timeWithSeconds(own)) \(zone.city))"
    }

    private static func text(_ moment: Timestamp, now: Timestamp, _ time: (Timestamp) -> String) -> String {
        let utc = date(moment) == date(now) ? "\(time(moment)) UTC" : "\(date(moment)) \(time(moment)) UTC"
        guard let zone = ReaderZone.current, let own = zone.wallClock(moment) else { return utc }
        return "\(utc) (\(date(own) == date(moment) ? time(own) : "\(date(own)) \(time(own))") \(zone.city))"
    }

    private static func slice(_ moment: Timestamp, _ range: Range<Int>) -> String {
        String(decoding: Array(moment.rfc3339.utf8)[range], as: UTF8.self)
    }
}
