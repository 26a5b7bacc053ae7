package import Postgres
package import PushContract

/// A device that a user does not have any more; what belongs to it there has to end.
package struct DeviceRemoval: Sendable, Hashable {
    package enum Cause: String, Sendable, Hashable {
        /// The app, or its user by sign-out.
        case unregistered
        /// The app, whose user wants no pushes there and stays signed in.
        case pushDisabled
        /// Another user signed in on it.
        case moved
        /// Not seen for 90 days.
        case expired
    }

    package var userId: String
    package var deviceId: String
    package var cause: Cause

    package init(userId: String, deviceId: String, cause: Cause) {
        self.userId = userId
        self.deviceId = deviceId
        self.cause = cause
    }
}

/// Ends what hangs on devices that leave, in the transaction in which they do.
package typealias RemovalHandler =
    @Sendable (_ removals: [DeviceRemoval], _ connection: BlockingConnection, _ now: Timestamp) throws -> Void
