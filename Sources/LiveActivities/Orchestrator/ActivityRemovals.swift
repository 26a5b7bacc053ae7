package import Delivery
package import Postgres
package import PushContract

/// Ends the activities of devices that leave their user, in the transaction in which they do.
package enum ActivityRemovals {
    /// By sign-out, another user's sign-in, or age: the push that takes the activity off the screen is in the queue then.
    @Sendable
    package static func end(_ removals: [DeviceRemoval], on connection: BlockingConnection, now: Timestamp) throws {
        guard !removals.isEmpty else { return }
        let leaving: Query =
            "(userId, deviceId) IN (SELECT * FROM unnest(\(removals.map(\.userId)), \(removals.map(\.deviceId))))"
        try ActivityEnds.end(leaving, reason: .deviceUnregistered, on: connection, now: now)
    }
}
