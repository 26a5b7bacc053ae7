import Foundation

/// Compares a window with the same hours of the weeks before it, by the clock of a place.
///
/// An hour on either side belongs to them, so that what begins a little earlier or later is still usual, and the hour that a change of
/// the clock adds or takes away makes no difference.
package struct WeekSeason: Sendable, Hashable {
    /// Weeks that are looked at, and how many of them must have enough attempts.
    package static let weeks = 4
    static let minWeeks = 3

    /// An IANA name.
    package let zone: String
    private let timeZone: TimeZone

    /// Nil when there is no such place.
    package init?(zone: String) {
        guard let timeZone = TimeZone(identifier: zone) else { return nil }
        self.zone = zone
        self.timeZone = timeZone
    }

    /// The UTC hours since 1970, `back` weeks before a window, that show the same time of the same weekday; with an hour on either side.
    package func hours(from first: Minute, through last: Minute, back: Int) -> ClosedRange<Int64> {
        hour(earlier(first, back)) - 1...max(hour(earlier(first, back)), hour(earlier(last, back))) + 1
    }

    /// All hours that windows between two minutes may look at.
    package static func reach(from first: Minute, through last: Minute) -> ClosedRange<Int64> {
        (first - (weeks * 7 * 1440 + 180)).index / 60...max(first.index / 60, (last - (7 * 1440 - 180)).index / 60)
    }

    private func hour(_ second: Int64) -> Int64 { second >= 0 ? second / 3600 : (second - 3599) / 3600 }

    /// The moment with the same wall clock `back` weeks earlier.
    private func earlier(_ minute: Minute, _ back: Int) -> Int64 {
        let wall = minute.second + offset(minute.second) - Int64(back) * 604_800
        // The offset then may be another one; what it is hardly changes within an hour of it.
        return wall - offset(wall - offset(wall))
    }

    private func offset(_ second: Int64) -> Int64 {
        Int64(timeZone.secondsFromGMT(for: Date(timeIntervalSince1970: TimeInterval(second))))
    }
}
