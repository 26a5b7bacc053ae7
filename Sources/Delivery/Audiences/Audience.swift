package import PushContract

/// A stored list of uids.
package struct Audience: Sendable, Hashable {
    package var id: String
    package var author: String
    package var members: Int
    package var createdAt: Timestamp
    /// When members were last changed.
    package var changedAt: Timestamp
}
