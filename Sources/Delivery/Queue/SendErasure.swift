import Postgres

/// The sends of a user who is erased.
enum SendErasure {
    /// Removes deliveries that wait or have ended, and sends that went to this user alone. Ends of Live Activities still leave.
    ///
    /// The places go first: a delivery that a worker claims meanwhile has left them, and stays.
    static func erase(_ userId: String, on connection: BlockingConnection) throws {
        var gone: [Int64] = []
        for (table, which) in [
            ("pushReady", " AND kind IS NULL"), ("pushScheduled", " AND kind IS NULL"), ("pushFinishedSingles", ""), ("pushDead", ""),
        ] {
            gone += try connection.query(
                """
                DELETE FROM \(raw: table) WHERE deliveryId = ANY(ARRAY(
                    SELECT deliveryId FROM pushDeliveries WHERE uid = \(userId)\(raw: which)))
                RETURNING deliveryId
                """
            ).map { try $0.decode(Int64.self) }
        }
        gone += try connection.query(sentTogether(userId)).map { try $0.decode(Int64.self) }
        guard !gone.isEmpty else { return }
        let sendIds = try connection.query("DELETE FROM pushDeliveries WHERE deliveryId = ANY(\(gone)) RETURNING sendId")
            .compactMap { try $0.decode(String?.self) }
        try connection.execute(
            """
            DELETE FROM pushSends s WHERE sendId = ANY(\(sendIds))
                AND NOT EXISTS (SELECT FROM pushDeliveries d WHERE d.sendId = s.sendId)
                AND NOT EXISTS (SELECT FROM pushFanOuts f WHERE f.sendId = s.sendId)
            """
        )
    }

    /// What was sent with others is in no table of its own.
    ///
    /// With a condition on leases that an index can be read by: where sequential scans are off, one would cost so much that all other costs
    /// are the same, and all deliveries would be read.
    static func sentTogether(_ userId: String) -> Query {
        """
        SELECT deliveryId FROM pushDeliveries d WHERE uid = \(userId) AND kind IS NULL
            AND NOT EXISTS (SELECT FROM pushFinishedSingles f WHERE f.deliveryId = d.deliveryId)
            AND NOT EXISTS (SELECT FROM pushDead x WHERE x.deliveryId = d.deliveryId)
            AND NOT EXISTS (SELECT FROM pushScheduled s WHERE s.deliveryId = d.deliveryId)
            AND NOT EXISTS (SELECT FROM pushReady r WHERE r.deliveryId = d.deliveryId)
            AND deliveryId NOT IN (SELECT deliveryId FROM pushLeasedDeliveries WHERE leaseUntil > '-infinity')
        """
    }
}
