import Postgres

/// What `QueueCheck` asks; each statement returns a line of text for each fault, 100 at most.
enum QueueStatements {
    static let tables: Query = """
        SELECT CASE WHEN NOT isStored THEN 'delivery ' || deliveryId || ' is in ' || places || ', and is not there'
                    WHEN places = '' THEN 'delivery ' || deliveryId || ' of ' || owner || ' is in no place'
                    ELSE 'delivery ' || deliveryId || ' of ' || owner || ' is in ' || places END
        FROM (
            SELECT deliveryId, count(d.uid) > 0 AS isStored, max(coalesce(d.sendId, d.kind)) AS owner, count(p.place) AS number, coalesce(string_agg(p.place, ' and '), '') AS places
            FROM pushDeliveries d FULL JOIN (
                SELECT deliveryId, 'pushReady' AS place FROM pushReady UNION ALL SELECT deliveryId, 'pushScheduled' FROM pushScheduled
                UNION ALL SELECT deliveryId, 'pushLeases' FROM pushLeases UNION ALL SELECT deliveryId, 'pushFinished' FROM pushFinished
                UNION ALL SELECT deliveryId, 'pushDead' FROM pushDead
            ) p USING (deliveryId)
            GROUP BY deliveryId
            HAVING count(p.place) <> 1 OR count(d.uid) = 0
        ) x ORDER BY deliveryId LIMIT 100
        """

    /// By send and uid: attempts do not name their delivery. Groups with a delivery under way are left out.
    static func attempts(days: Int64) -> Query {
        """
        WITH ended AS (
            SELECT d.sendId, d.uid, sum(e.attempts)::bigint AS attempts, min(d.createdAt) AS since, count(*) AS number
            FROM (
                SELECT deliveryId, attempts FROM pushFinished WHERE \(recent(days))
                UNION ALL SELECT deliveryId, attempts FROM pushDead WHERE \(recent(days))
            ) e JOIN pushDeliveries d USING (deliveryId) WHERE d.sendId IS NOT NULL GROUP BY 1, 2
        )
        SELECT 'send ' || e.sendId || ', uid ' || e.uid || ': ' || e.attempts || ' attempts and ' || a.number || ' rows'
        FROM ended e CROSS JOIN LATERAL (
            SELECT count(*) AS number FROM notificationDeliveryAttempts a
            WHERE a.uid = e.uid AND a.sendId = e.sendId AND a.eventType = 'send' AND a.attemptedAt >= e.since - interval '5 minutes'
        ) a
        WHERE a.number <> e.attempts
          AND e.number = (SELECT count(*) FROM pushDeliveries d WHERE d.sendId = e.sendId AND d.uid = e.uid)
        ORDER BY 1 LIMIT 100
        """
    }

    static func sentTwice(days: Int64) -> Query {
        """
        SELECT 'send ' || a.sendId || ', uid ' || a.uid || ', ' || a.tokenHash || ': ' || count(*) || ' rows that say sent'
        FROM notificationDeliveryAttempts a
        WHERE a.attemptedAt > statement_timestamp() - \(days) * interval '1 day' AND a.eventType = 'send' AND a.status = 'sent'
          AND a.sendId IN (SELECT sendId FROM pushSends)
        GROUP BY a.sendId, a.uid, a.tokenHash
        HAVING count(*) > (SELECT count(*) FROM pushDeliveries d WHERE d.sendId = a.sendId AND d.uid = a.uid)
        ORDER BY 1 LIMIT 100
        """
    }

    static let overdueLeases: Query = """
        SELECT 'delivery ' || deliveryId || ' is leased by ' || worker || ' since ' || claimedAt FROM pushLeases
        WHERE leaseUntil < clock_timestamp() - interval '5 minutes' ORDER BY leaseUntil LIMIT 100
        """

    static let staleCircuits: Query = """
        SELECT 'delivery ' || s.deliveryId || ' waits for circuit ' || s.circuitId FROM pushScheduled s LEFT JOIN pushCircuits h USING (circuitId)
        WHERE s.circuitId IS NOT NULL AND (h.circuitId IS NULL OR h.closedAt < clock_timestamp() - interval '5 minutes')
        ORDER BY s.deliveryId LIMIT 100
        """

    static func possibleDuplicates(days: Int64) -> Query {
        """
        SELECT count(*) FROM notificationDeliveryAttempts a JOIN pushSends s USING (sendId)
        WHERE a.attemptedAt > statement_timestamp() - \(days) * interval '1 day' AND a.eventType = 'send' AND a.status = 'failed'
          AND a.providerErrorCode = 'OutcomeUnknown' AND s.policy = 'at_least_once'
        """
    }

    private static func recent(_ days: Int64) -> Query { "finishedAt > statement_timestamp() - \(days) * interval '1 day'" }
}
