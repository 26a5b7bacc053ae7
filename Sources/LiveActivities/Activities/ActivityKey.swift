package import PushContract

/// Which activity: one subject on one device of one user, in its n-th start.
package struct ActivityKey: Sendable, Hashable {
    /// A matchId, or `<attributesType>/<activityId>`.
    package var subject: String
    @ExactText package var userId: String
    @ExactText package var deviceId: String
    package var instance: Int
}
