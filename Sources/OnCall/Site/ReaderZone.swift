import Foundation
import PushContract

/// The time zone of a page's reader. Pages show times in UTC, followed by this zone's time.
///
/// Only a browser knows it, so it comes with each request in a cookie: set by the script, or by the form for those without one. As a
/// task-local it belongs to the request as its id does; any sentence on a page may name a moment.
struct ReaderZone: Sendable, Hashable {
    /// Nil where it is not known: times are in UTC alone then.
    @TaskLocal static var current: ReaderZone?

    static let cookieName = "pushwatch_zone"
    private static let longest = 64

    /// As the IANA database names it: `Europe/Berlin`.
    let identifier: String
    private let zone: TimeZone

    /// Nil for what is no zone's name.
    init?(_ name: some StringProtocol) {
        guard name.utf8.count <= Self.longest, name.utf8.allSatisfy(Self.isOfAName), let zone = TimeZone(identifier: String(name)) else {
            return nil
        }
        identifier = String(name)
        self.zone = zone
    }

    /// From the cookie's value, which begins with `~` when the script set it. Browsers and people write the same names.
    init?(cookie: String) { self.init(cookie.drop { $0 == "~" }) }

    /// `Berlin`, `Buenos Aires`; the whole name of zones that are no place.
    var city: String {
        String(identifier.split(separator: "/").last ?? identifier[...]).replacing("_", with: " ")
    }

    /// The moment at which a clock that shows UTC shows what the reader's clock shows at `moment`; nil when both show the same.
    func wallClock(_ moment: Timestamp) -> Timestamp? {
        let offset = zone.secondsFromGMT(for: Date(timeIntervalSince1970: TimeInterval(moment.seconds)))
        return offset == 0 ? nil : moment + .seconds(offset)
    }

    /// Everything a reader may choose from.
    static let all: [String] = (TimeZone.knownTimeZoneIdentifiers.filter { $0.contains("/") } + ["UTC"]).sorted()

    private static func isOfAName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "/_+-".utf8.contains(byte)
        }
    }
}
