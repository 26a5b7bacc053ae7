package import PushContract

/// One line of `migrate --status`.
package struct MigrationStatus: Sendable, Hashable {
    package let version: Int
    package let name: String
    /// nil = not applied yet.
    package let appliedAt: Timestamp?
    package let durationMs: Int?
}
