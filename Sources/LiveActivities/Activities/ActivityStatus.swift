/// The three states of a Live Activity's record, spelled as stored (seed 003: `liveActivities.status`).
package enum ActivityStatus: String, Sendable, Hashable, Codable, CaseIterable {
    /// It should be on a lock screen; no update token has come back yet.
    case pending
    /// It has an update token: the only state that receives updates.
    case active
    case ended
}
