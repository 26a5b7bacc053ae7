/// Which activity: one subject on one device of one user, in its n-th start.
package struct ActivityKey: Sendable, Hashable {
    /// A matchId, or `<attributesType>/<activityId>`.
    package var subject: String
    package var userId: String
    package var deviceId: String
    package var instance: Int
}
