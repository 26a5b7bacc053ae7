import Postgres
package import PushContract

/// A label that readers of counts filter and group by.
package enum RollupDimension: String, Sendable, Hashable, CaseIterable {
    case eventType, provider, platform, environment, app, pushType, appMajor
    /// The rollups do not keep it: it is counted from the attempts.
    case appVersion

    /// The type of an enum column.
    var enumType: String? {
        switch self {
        case .eventType: "pushEventType"
        case .provider: "pushProvider"
        case .platform: "pushPlatform"
        case .environment, .app, .pushType, .appMajor, .appVersion: nil
        }
    }

    /// The column as text. Enum columns are cast; '' means none.
    var sql: String {
        switch self {
        case .eventType, .provider, .platform: "\(rawValue)::text"
        case .environment, .app, .pushType, .appMajor, .appVersion: rawValue
        }
    }
}

/// Which attempts are counted, and which of them are bad.
package struct RollupSelection: Sendable, Hashable {
    /// For each named dimension, the values that count.
    package var allowed: [RollupDimension: [String]]
    /// Reason codes that make an attempt bad.
    package var reasons: [String]
    /// With statuses, only attempts that ended in one of them are bad.
    package var badStatuses: [String]
    /// With provider codes, only attempts with one of them are bad.
    package var badCodes: [String] = []
    /// For each named dimension, the values that are counted apart; all others are counted together as `FoldedLabels.other`.
    package var kept: [RollupDimension: [String]] = [:]
    /// Parts of the time that is read; empty: all of it.
    package var spans: [Range<Timestamp>] = []
    /// Counts attempts with a latency instead, of which those slower than this are bad; `allowed` may name `provider` and `app`.
    package var slowerThanMs: Int32?

    package init(allowed: [RollupDimension: [String]] = [.eventType: ["send"]], reasons: [String], badStatuses: [String] = []) {
        self.allowed = allowed
        self.reasons = reasons
        self.badStatuses = badStatuses
    }

    /// Where the counts are: in the rollups, or, of an exact version or the provider's codes, in the attempts.
    package func source(by dimensions: [RollupDimension] = []) -> CountSource {
        if slowerThanMs != nil { return .latencies }
        return badCodes.isEmpty && allowed[.appVersion] == nil && !dimensions.contains(.appVersion) ? .rollups : .attempts
    }

    var isBad: Query {
        if let slowerThanMs { return "upToMs > \(slowerThanMs)" }
        var isBad: Query = "reasonCode = ANY(\(reasons))"
        if !badStatuses.isEmpty { isBad = "\(isBad) AND status::text = ANY(\(badStatuses))" }
        if !badCodes.isEmpty { isBad = "\(isBad) AND providerErrorCode = ANY(\(badCodes))" }
        return isBad
    }
}

/// The table that counts are summed from.
package enum CountSource: String, Sendable {
    case rollups = "attemptRollups"
    case latencies = "attemptLatencies"
    /// One by one: the work follows the number of attempts.
    case attempts = "attemptLabels"

    /// The column that its rows are found by.
    package var time: String { self == .attempts ? "attemptedAt" : "minute" }
}
