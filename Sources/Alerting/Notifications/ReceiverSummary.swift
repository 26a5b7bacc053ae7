package import Postgres
package import PushContract

/// The notifications of one receiver, counted by state.
package struct ReceiverSummary: Sendable, Hashable, Encodable {
    package var receiver: String
    package var lastDeliveredAt: Timestamp?
    package var pending: Int
    package var deadLettered: Int
    /// Of the newest notification that is pending or dead-lettered.
    package var lastError: String?

    package init(receiver: String, lastDeliveredAt: Timestamp? = nil, pending: Int = 0, deadLettered: Int = 0, lastError: String? = nil) {
        self.receiver = receiver
        self.lastDeliveredAt = lastDeliveredAt
        self.pending = pending
        self.deadLettered = deadLettered
        self.lastError = lastError
    }
}

extension NotificationHistory {
    /// Every receiver that a notification was ever addressed to, by name.
    package static func receivers(on session: any PostgresSession) async throws -> [ReceiverSummary] {
        try await session.query(
            """
            SELECT receiver, max(settledAt) FILTER (WHERE state = 'delivered'), count(*) FILTER (WHERE state = 'pending'),
                   count(*) FILTER (WHERE state = 'deadLettered'),
                   (array_agg(lastError ORDER BY createdAt DESC)
                       FILTER (WHERE state IN ('pending', 'deadLettered') AND lastError IS NOT NULL))[1]
            FROM notifications GROUP BY receiver ORDER BY receiver
            """
        ).map {
            let (receiver, delivered, pending, deadLettered, error) = try $0.decode((String, Timestamp?, Int, Int, String?).self)
            return ReceiverSummary(
                receiver: receiver,
                lastDeliveredAt: delivered,
                pending: pending,
                deadLettered: deadLettered,
                lastError: error
            )
        }
    }
}
