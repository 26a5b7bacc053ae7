package import Delivery
package import Postgres
package import PushContract

/// Ends the activities of devices that leave their user, in the transaction in which they do.
package enum ActivityRemovals {
    /// By sign-out, an end of pushes there, another user's sign-in, or age: the push that takes the activity off the screen is in the queue
    /// then. With the last device that signs out, its user's follows end.
    @Sendable
    package static func end(_ removals: [DeviceRemoval], on connection: BlockingConnection, now: Timestamp) throws {
        guard !removals.isEmpty else { return }
        let leaving: Query =
            "(userId, deviceId) IN (SELECT * FROM unnest(\(removals.map(\.userId)), \(removals.map(\.deviceId))))"
        try ActivityEnds.end(leaving, reason: .deviceUnregistered, on: connection, now: now)
        // A sign-out. Of a user with further devices, the follows are what those have cards for. A device whose token went to another one
        // is none: the app was installed anew, or another user has it.
        let signedOut = removals.filter { $0.cause == .unregistered }.map(\.userId)
        guard !signedOut.isEmpty else { return }
        try connection.execute(
            """
            DELETE FROM follows f WHERE f.userId = ANY(\(signedOut))
                AND NOT EXISTS (SELECT FROM devices d WHERE d.userId = f.userId AND d.expiresAt > \(now)
                    AND d.tokenStateCause IS DISTINCT FROM 'moved')
            """
        )
    }

    /// Of a user who is erased: their activities end before their devices go, and are forgotten when the pushes that take them off the
    /// screens have left.
    ///
    /// - Returns: the sends that do so on Android.
    @Sendable
    package static func erase(
        _ userId: String,
        _ devices: [ErasedDevice],
        on connection: BlockingConnection,
        now: Timestamp
    ) throws -> [SendRequest] {
        let sends = try OtherDevicesStore.ends(of: userId, devices: devices, on: connection, now: now)
        try connection.execute("DELETE FROM follows WHERE userId = \(userId)")
        try ActivityEnds.end("userId = \(userId)", reason: .deviceUnregistered, on: connection, now: now)
        let expiry = now + LiveEnd.giveUpAfter
        try connection.execute(
            "UPDATE liveActivities SET expiresAt = least(expiresAt, \(expiry)::timestamptz) WHERE userId = \(userId)"
        )
        try connection.execute("DELETE FROM activityStarts WHERE userId = \(userId)")
        return sends
    }
}
