import Foundation
package import PushContract

/// The `Retry-After` header: seconds, or an HTTP date (RFC 9110 §10.2.3).
package enum RetryAfter {
    /// Longer waits are cut: a receiver that asks for a day would hide an alert for a day.
    package static let longest = Duration.seconds(3600)

    /// Nil when the header cannot be read.
    package static func wait(_ header: String, now: Timestamp) -> Duration? {
        let text = header.trimmingCharacters(in: .whitespaces)
        if let seconds = Int64(text) { return seconds < 0 ? nil : min(.seconds(seconds), longest) }
        return date(text).map { min(max(.zero, $0 - now), longest) }
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`; the two obsolete forms are not read.
    private static func date(_ text: String) -> Timestamp? {
        let parts = text.split(separator: " ")
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard parts.count == 6, parts[5] == "GMT", parts[1].count == 2, let month = months.firstIndex(of: String(parts[2])) else {
            return nil
        }
        let number = month + 1
        return Timestamp(rfc3339: "\(parts[3])-\(number < 10 ? "0" : "")\(number)-\(parts[1])T\(parts[4])Z")
    }
}
