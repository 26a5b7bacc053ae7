/// A device's system version, as far as features depend on it.
package struct OSVersion: Sendable, Hashable, Comparable {
    package let major: Int
    package let minor: Int

    /// Live Activities can be started by a push from here on.
    package static let pushToStart = OSVersion(major: 17, minor: 2)
    /// Live Activities can subscribe to a broadcast channel from here on.
    package static let broadcast = OSVersion(major: 18, minor: 0)

    package init(major: Int, minor: Int) {
        self.major = major
        self.minor = minor
    }

    /// From `17.2`, `17.2.1`, `18` or `iOS 17.2`; nil when there is no number in it.
    package init?(_ text: String) {
        let digits = text.drop { !$0.isASCII || !$0.isNumber }.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let parts = digits.split(separator: ".")
        guard let first = parts.first, let major = Int(first) else { return nil }
        self.init(major: major, minor: parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
    }

    package static func < (lhs: OSVersion, rhs: OSVersion) -> Bool { (lhs.major, lhs.minor) < (rhs.major, rhs.minor) }
}
