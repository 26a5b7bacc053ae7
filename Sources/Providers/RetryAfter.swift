import PushContract

/// The `Retry-After` header (RFC 9110, 10.2.3): seconds, or a date such as `Wed, 21 Oct 2026 07:28:00 GMT`.
enum RetryAfter {
    /// More than a day is taken as a day.
    static let longest = Duration.seconds(86_400)

    /// The wait; nil when the header is absent or neither form. A date gone by is no wait.
    static func wait(_ header: String?, now: Timestamp) -> Duration? {
        guard let header else { return nil }
        let text = header.split(separator: " ").joined(separator: " ")
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return Int64(text).map { min(.seconds($0), longest) } ?? longest
        }
        return date(text).map { min(max($0 - now, .zero), longest) }
    }

    /// A date as HTTP writes it.
    static func date(_ text: String) -> Timestamp? {
        let parts = text.split(separator: " ")
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard parts.count == 6, parts[5] == "GMT", let month = months.firstIndex(of: String(parts[2])) else { return nil }
        let number = month + 1 < 10 ? "0\(month + 1)" : "\(month + 1)"
        return Timestamp(rfc3339: "\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z")
    }
}
