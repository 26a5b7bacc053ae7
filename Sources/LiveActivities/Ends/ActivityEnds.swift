import Delivery
import Postgres
import PushContract

/// Ends activities, in the caller's transaction.
enum ActivityEnds {
    /// Ends those that a condition picks, and puts the push that takes each off the screen into the send queue, where there is a token to
    /// send it to: also of those that listen to a channel, as a phone that is away keeps no broadcast. How many ended.
    ///
    /// - Parameters:
    ///   - cause: more specific than the reason.
    ///   - deviceId: the activity is gone from this device already.
    @discardableResult
    static func end(
        _ condition: Query,
        reason: EndReason,
        cause: String? = nil,
        gone deviceId: String? = nil,
        on connection: BlockingConnection,
        now: Timestamp
    ) throws -> Int {
        let ended = try connection.query(
            """
            UPDATE liveActivities SET status = 'ended', endReason = \(reason.rawValue), endCause = \(cause), endedAt = \(now), nextStartAt = NULL
            WHERE status <> 'ended' AND \(condition)
            RETURNING matchId, userId, deviceId, instance, app, environment,
                CASE WHEN deviceId IS DISTINCT FROM \(deviceId) THEN updateTokenHash END
            """
        ).map { try $0.decode((String, String, String, Int32, String, String, String?).self) }
        let pushes = try ended.compactMap { row -> NewQueuedDelivery? in
            guard let token = row.6 else { return nil }
            return ActivityKey(subject: row.0, userId: row.1, deviceId: row.2, instance: Int(row.3)).queued(
                LiveEnd.kind,
                app: row.4,
                environment: try stored(row.5),
                deliveryClass: .normal,
                token: token,
                expiresAt: now + LiveEnd.giveUpAfter
            )
        }
        _ = try DeliveryQueue.enqueue(pushes, now: now, on: connection)
        return ended.count
    }
}
