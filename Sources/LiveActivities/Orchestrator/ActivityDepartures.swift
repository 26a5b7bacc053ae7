package import Delivery
package import Postgres
package import PushContract

/// Ends the activities of devices that leave their user, in the transaction in which they do.
package enum ActivityDepartures {
    /// By sign-out, another user's sign-in, or age: the push that takes the activity off the screen is owed from now on.
    @Sendable
    package static func end(_ departures: [DeviceDeparture], on connection: BlockingConnection, now: Timestamp) throws {
        guard !departures.isEmpty else { return }
        let leaving: Query =
            "(userId, deviceId) IN (SELECT * FROM unnest(\(departures.map(\.userId)), \(departures.map(\.deviceId))))"
        try connection.execute(ActivityQueries.end(leaving, reason: .deviceUnregistered, now: now))
    }
}
