import Attempts
import Postgres
import PushContract

/// What `QueueCheck` asks; each statement returns a line of text for each fault, 100 at most.
enum QueueStatements {
    static func count(_ ids: Range<Int64>) -> Query { "SELECT count(*) FROM pushDeliveries WHERE \(within(ids))" }

    /// Outcomes are kept as long as sends, but for sends that live longer as their dead letters were retried. Those of deliveries that were
    /// erased stay.
    static func misplaced(_ ids: Range<Int64>) -> Query {
        """
        SELECT CASE WHEN NOT isStored THEN 'delivery ' || deliveryId || ' is in ' || places || ', and is not there'
                    WHEN places = '' THEN 'delivery ' || deliveryId || ' of ' || owner || ' is in no place'
                    ELSE 'delivery ' || deliveryId || ' of ' || owner || ' is in ' || places END
        FROM (
            SELECT deliveryId, count(d.uid) > 0 AS isStored, max(coalesce(d.sendId, d.kind)) AS owner, max(d.createdAt) AS createdAt,
                coalesce(string_agg(p.place, ' and '), '') AS places, count(p.place) AS number
            FROM (SELECT deliveryId, sendId, kind, uid, createdAt FROM pushDeliveries WHERE \(within(ids))) d FULL JOIN (
                SELECT deliveryId, 'pushReady' AS place FROM pushReady WHERE \(within(ids))
                UNION ALL SELECT deliveryId, 'pushScheduled' FROM pushScheduled WHERE \(within(ids))
                UNION ALL SELECT deliveryId, 'pushLeases' FROM pushLeasedDeliveries WHERE \(within(ids))
                UNION ALL SELECT deliveryId, 'pushFinishedSingles' FROM pushFinishedSingles WHERE \(within(ids))
                UNION ALL SELECT deliveryId, 'pushOutcomes' FROM (\(sentTogether(ids))) sent
                UNION ALL SELECT deliveryId, 'pushDead' FROM pushDead WHERE \(within(ids))
            ) p USING (deliveryId)
            GROUP BY deliveryId
        ) x
        WHERE CASE WHEN NOT isStored THEN places <> 'pushOutcomes'
            WHEN number = 0 THEN createdAt > statement_timestamp() - \(SendStore.minimumRetention.inSeconds) * interval '1 second'
            ELSE number > 1 END
        ORDER BY deliveryId LIMIT 100
        """
    }

    /// By send and uid: attempts do not name their delivery. How often each was attempted, and since when, if all of its deliveries have
    /// ended: with one under way there may be a row more. By probes, since the others are anywhere.
    static func ended(_ ids: Range<Int64>, since: Timestamp) -> Query {
        """
        SELECT d.sendId, d.uid, sum(coalesce(f.attempts, x.attempts, 1)), min(d.createdAt)
        FROM (
            SELECT DISTINCT sendId, uid FROM (
                SELECT deliveryId FROM pushFinishedSingles WHERE \(within(ids)) AND finishedAt > \(since)
                UNION ALL SELECT deliveryId FROM pushDead WHERE \(within(ids)) AND finishedAt > \(since)
                UNION ALL SELECT deliveryId FROM (\(sentTogether(ids))) sent WHERE writtenAt > \(since)
            ) e JOIN pushDeliveries USING (deliveryId) WHERE sendId IS NOT NULL
        ) s JOIN pushDeliveries d USING (sendId, uid)
            LEFT JOIN pushFinishedSingles f ON f.deliveryId = d.deliveryId
            LEFT JOIN pushDead x ON x.deliveryId = d.deliveryId
            LEFT JOIN LATERAL (
                \(SentTogether.row("o.writtenAt", of: "d.deliveryId", where: "f.deliveryId IS NULL AND x.deliveryId IS NULL"))
            ) g ON true
        GROUP BY 1, 2 HAVING count(*) FILTER (WHERE coalesce(f.finishedAt, x.finishedAt, g.writtenAt) > \(since)) = count(*)
        """
    }

    private static func sentTogether(_ ids: Range<Int64>) -> Query {
        """
        SELECT * FROM (
            SELECT unnest(sent) AS deliveryId, writtenAt FROM pushOutcomes
            WHERE lastSent >= \(ids.lowerBound) AND lastSent < \(ids.upperBound + SentTogether.span) AND firstSent < \(ids.upperBound)
        ) o WHERE \(within(ids))
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
        SELECT 'lease ' || leaseToken || ' of ' || worker || ', with ' || cardinality(deliveryIds) || ' deliveries, ran out at ' || leaseUntil FROM pushLeases
        WHERE leaseUntil < clock_timestamp() - interval '5 minutes' ORDER BY leaseUntil LIMIT 100
        """

    static let incompleteSends: Query = """
        SELECT 'of send ' || sendId || ' no delivery was stored since ' || storedAt || '; members after ' || afterUid || ' are left'
        FROM pushFanOuts WHERE storedAt < clock_timestamp() - interval '5 minutes' ORDER BY storedAt LIMIT 100
        """

    static func staleCircuits(_ ids: Range<Int64>) -> Query {
        """
        SELECT 'delivery ' || s.deliveryId || ' waits for circuit ' || s.circuitId FROM pushScheduled s LEFT JOIN pushCircuits h USING (circuitId)
        WHERE \(within(ids)) AND s.circuitId IS NOT NULL AND (h.circuitId IS NULL OR h.closedAt < clock_timestamp() - interval '5 minutes')
        ORDER BY s.deliveryId LIMIT 100
        """
    }

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

    private static func within(_ ids: Range<Int64>) -> Query { "deliveryId >= \(ids.lowerBound) AND deliveryId < \(ids.upperBound)" }
}
