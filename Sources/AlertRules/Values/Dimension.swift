/// A property of attempts that rules may filter and group by. Names are those of the contract.
package enum Dimension: String, Sendable, Hashable, CaseIterable, Codable, CodingKeyRepresentable {
    case eventType, provider, platform, environment, app, pushType
    /// The number the app's version begins with; '' for none.
    case appMajor
    /// Exact, or '' for none; for `ratio` only.
    case appVersion
    /// The provider's own code; groups of `first_sight` only.
    case providerErrorCode
    /// The source of live subjects: the URL of a score feed; `pushed: ` and the matchId, or the type of other subjects. For groups of
    /// `feed_silent` only.
    case feed

    /// Those of every condition over attempts.
    static let common = allCases.filter { ![.appVersion, .providerErrorCode, .feed].contains($0) }

    /// The values the contract allows; nil where any text is possible.
    var allowedValues: [String]? {
        switch self {
        case .eventType: ["register", "unregister", "send"]
        case .provider: ["apns", "fcm"]
        case .platform: ["ios", "android", "web"]
        case .environment: ["production", "sandbox"]
        case .app, .pushType, .appMajor, .appVersion, .providerErrorCode, .feed: nil
        }
    }
}

extension Dimension: Comparable {
    package static func < (a: Dimension, b: Dimension) -> Bool { a.rawValue < b.rawValue }
}

/// The six reason codes of the attempt contract.
package enum Reasons {
    package static let all = ["token_invalid", "token_not_registered", "provider_5xx", "network", "auth", "unknown"]
}
