package import PushContract

/// The `Retry-After` header (RFC 9110, 10.2.3): seconds, or a date such as `Wed, 21 Oct 2026 07:28:00 GMT`.
package enum RetryAfter {
    /// The wait, `longest` at most; nil when the header is absent or neither form. A past date is no wait.
    package static func wait(_ header: String?, now: Timestamp, longest: Duration) -> Duration? {
        guard let header else { return nil }
        let text = header.split(separator: " ").joined(separator: " ")
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return Int64(text).map { min(.seconds($0), longest) } ?? longest
        }
        return date(text).map { min(max($0 - now, .zero), longest) }
    }

    /// A date as HTTP writes it (IMF-fixdate); the two obsolete forms are not read.
    package static func date(_ text: String) -> Timestamp? {
        let parts = text.split(separator: " ")
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard parts.count == 6, parts[5] == "GMT", parts[1].count == 2, let month = months.firstIndex(of: String(parts[2])) else {
            return nil
        }
        let number = month + 1 < 10 ? "0\(month + 1)" : "\(month + 1)"
        return Timestamp(rfc3339: "\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z")
    }
}
