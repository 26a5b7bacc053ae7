import Attempts
import Postgres
import PushContract

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

    /// By send and uid: attempts do not name their delivery. How often each was attempted, since when, and how many deliveries of it have
    /// ended and are stored. For a cursor, which takes no parameters.
    static func ended(days: Int64) -> Query {
        """
        SELECT d.sendId, d.uid, sum(e.attempts)::bigint, min(d.createdAt), count(*),
               (SELECT count(*) FROM pushDeliveries o WHERE o.sendId = d.sendId AND o.uid = d.uid)
        FROM (
            SELECT deliveryId, attempts FROM pushFinished WHERE \(recent(days))
            UNION ALL SELECT deliveryId, attempts FROM pushDead WHERE \(recent(days))
        ) e JOIN pushDeliveries d USING (deliveryId) WHERE d.sendId IS NOT NULL GROUP BY 1, 2
        """
    }

    /// How many rows each of them has.
    static func rows(_ sends: [EndedSend]) -> Query {
        """
        SELECT e.index, count(*)
        FROM unnest(\(Array(sends.indices)), \(sends.map(\.uid)), \(sends.map(\.sendId)), \(sends.map { $0.since - .seconds(300) }))
            AS e (index, uid, sendId, since)
        JOIN notificationDeliveryAttempts a ON a.uid = e.uid AND a.sendId = e.sendId AND a.attemptedAt >= e.since
        WHERE a.eventType = 'send' GROUP BY 1
        """
    }

    /// How many deliveries each of them has to its person, in their order.
    static func deliveries(of sends: [RepeatedSends.Send]) -> Query {
        """
        SELECT (SELECT count(*) FROM pushDeliveries d WHERE d.sendId = e.sendId AND d.uid = e.uid)
        FROM unnest(\(sends.map(\.sendId)), \(sends.map(\.uid))) WITH ORDINALITY AS e (sendId, uid, index) ORDER BY e.index
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

    static func possibleDuplicates(in slice: Range<Timestamp>) -> Query {
        """
        WITH lost AS MATERIALIZED (
            SELECT sendId, count(*) AS number FROM notificationDeliveryAttempts
            WHERE attemptedAt >= \(slice.lowerBound) AND attemptedAt < \(slice.upperBound) AND eventType = 'send' AND status = 'failed'
              AND providerErrorCode = 'OutcomeUnknown' AND sendId IS NOT NULL
            GROUP BY 1
        )
        SELECT coalesce(sum(number), 0)::bigint FROM lost JOIN pushSends s USING (sendId) WHERE s.policy = 'at_least_once'
        """
    }

    private static func recent(_ days: Int64) -> Query { "finishedAt > statement_timestamp() - \(raw: "\(days)") * interval '1 day'" }
}
