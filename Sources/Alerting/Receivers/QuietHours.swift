package import Foundation
package import PushContract

/// Local hours of the day in which only pages are sent.
package struct QuietHours: Sendable, Hashable {
    /// Minutes since midnight. `from` after `to` spans midnight.
    package let from: Int
    package let to: Int
    /// An IANA name such as Europe/Berlin, so that summer time moves them along.
    package let zone: TimeZone

    package init(from: Int, to: Int, zone: TimeZone) {
        self.from = from
        self.to = to
        self.zone = zone
    }

    /// Reads `22:00-07:00`; nil when it is no span.
    package init?(_ text: String, zone: TimeZone) {
        let times = text.split(separator: "-").map { $0.trimmingCharacters(in: .whitespaces) }
        guard times.count == 2, let from = Self.minutes(times[0]), let to = Self.minutes(times[1]), from != to else { return nil }
        self.init(from: from, to: to, zone: zone)
    }

    package func contains(_ now: Timestamp) -> Bool {
        let local = now.seconds + Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(now.seconds))))
        let minute = Int(((local % 86_400) + 86_400) % 86_400 / 60)
        return from < to ? from <= minute && minute < to : minute >= from || minute < to
    }

    private static func minutes(_ text: String) -> Int? {
        guard text.wholeMatch(of: /\d{1,2}:\d\d/) != nil else { return nil }
        let parts = text.split(separator: ":").compactMap { Int($0) }
        guard parts.count == 2, parts[0] < 24, parts[1] < 60 else { return nil }
        return parts[0] * 60 + parts[1]
    }
}
