import PushContract

/// Moments as people read them. Always UTC: a page without a script cannot know the reader's zone.
enum ClockText {
    /// `02:41`
    static func time(_ moment: Timestamp) -> String { slice(moment, 11..<16) }

    /// `02:41:07`
    static func timeWithSeconds(_ moment: Timestamp) -> String { slice(moment, 11..<19) }

    /// `2026-11-21`
    static func date(_ moment: Timestamp) -> String { slice(moment, 0..<10) }

    /// `02:41 UTC` of the same day as `now`, else `2026-11-20 23:10 UTC`.
    static func moment(_ moment: Timestamp, now: Timestamp) -> String {
        date(moment) == date(now) ? "\(time(moment)) UTC" : "\(date(moment)) \(time(moment)) UTC"
    }

    private static func slice(_ moment: Timestamp, _ range: Range<Int>) -> String {
        String(decoding: Array(moment.rfc3339.utf8)[range], as: UTF8.self)
    }
}
