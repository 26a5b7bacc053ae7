/// How urgently people are notified. Required on every rule.
package enum Severity: String, Sendable, Hashable, CaseIterable, Codable {
    case critical, page, ticket, info

    /// People are paged.
    package var pages: Bool { self == .critical || self == .page }
}
