import PushContract

/// Lengths of time as people say them: the two largest units, rounded down.
enum DurationText {
    static func span(_ duration: Duration) -> String {
        let seconds = max(0, duration.components.seconds)
        switch seconds {
        case ..<60: return "\(seconds) s"
        case ..<3_600: return "\(seconds / 60) min"
        case ..<86_400: return pair(seconds / 3_600, "h", seconds / 60 % 60, "min")
        default: return pair(seconds / 86_400, "d", seconds / 3_600 % 24, "h")
        }
    }

    /// `just now`, `29 min ago`; a moment that has not come yet is `in 5 min`.
    static func ago(_ moment: Timestamp, now: Timestamp) -> String {
        let passed = now - moment
        if passed < .zero { return "in \(span(.zero - passed))" }
        return passed < .seconds(5) ? "just now" : "\(span(passed)) ago"
    }

    private static func pair(_ major: Int64, _ majorUnit: String, _ minor: Int64, _ minorUnit: String) -> String {
        minor == 0 ? "\(major) \(majorUnit)" : "\(major) \(majorUnit) \(minor) \(minorUnit)"
    }
}
