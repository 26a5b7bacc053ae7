/// What an API key or a session may do.
package struct Scope: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
    package var rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let attemptsWrite = Scope(rawValue: "attempts:write")
    package static let attemptsRead = Scope(rawValue: "attempts:read")
    package static let sendsWrite = Scope(rawValue: "sends:write")
    package static let sendsRead = Scope(rawValue: "sends:read")
    package static let alertsWrite = Scope(rawValue: "alerts:write")
    package static let alertsRead = Scope(rawValue: "alerts:read")
    package static let matchesWrite = Scope(rawValue: "matches:write")
    package static let metricsRead = Scope(rawValue: "metrics:read")

    package static let allScopes: [Scope] = [
        .attemptsWrite, .attemptsRead, .sendsWrite, .sendsRead, .alertsWrite, .alertsRead, .matchesWrite, .metricsRead,
    ]

    /// A setting of a key rather than a right: reason codes that contradict the mapping are corrected, for senders that cannot change.
    package static let attemptsNormalize = Scope(rawValue: "attempts:normalize")

    /// What a key can be created with.
    package static let grantable = allScopes + [.attemptsNormalize]

    /// True for the scopes above: creating a key with a misspelt scope is an error, not a key that can do nothing.
    package var isKnown: Bool { Self.grantable.contains(self) }

    package var description: String { rawValue }
}
