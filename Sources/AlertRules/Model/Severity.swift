/// How loudly an alert is delivered. Required on every rule.
package enum Severity: String, Sendable, Hashable, CaseIterable, Codable {
    case critical, page, ticket, info

    /// Wakes somebody up.
    package var pages: Bool { self == .critical || self == .page }
}
