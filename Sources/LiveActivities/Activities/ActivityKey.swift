/// Which activity: one subject on one device of one user, in its n-th start.
package struct ActivityKey: Sendable, Hashable {
    /// A matchId, or `<attributesType>/<activityId>`.
    package var subject: String
    package var userId: String
    package var deviceId: String
    package var instance: Int

    package init(subject: String, userId: String, deviceId: String, instance: Int) {
        self.subject = subject
        self.userId = userId
        self.deviceId = deviceId
        self.instance = instance
    }
}
