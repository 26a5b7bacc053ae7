import Postgres
import PushContract

/// The SQL of "newest wins": of the deliveries with one `collapseId` to one device or token only the newest is attempted.
///
/// The order is that of locking the row of `pushNewest`, or the caller's `version`. What waits when a newer one comes ends as superseded: at once
/// if it is scheduled (a retry, behind a circuit, not due yet), else when a worker comes to it, so that nothing searches `pushReady`. An older
/// one that is in flight is waited for.
enum NewestQueries {
    /// How long an attempt may be in flight before a newer delivery stops waiting for it. Longer than `startLimit` and a request.
    static let flightLimit = Duration.seconds(30)
    /// A claimed delivery that has not left after this time goes back to the queue: a newer one could be sent before it.
    static let startLimit = Duration.seconds(10)

    private static let nextId: Query = "nextval(pg_get_serial_sequence('pushDeliveries', 'deliveryid'))"

    /// Inserts deliveries of which some have a `collapseId`; how many, in each row, and those that ended as superseded. An identity is taken under the lock of the key: the greater,
    /// the newer.
    static func insert(_ rows: Query, mayBeLater: Bool, now: Timestamp) -> Query {
        """
        WITH target AS MATERIALIZED (
            SELECT t.*, s.expiresAt, row_number() OVER () AS number, CASE WHEN collapseId IS NOT NULL
                THEN pushCollapseKey(provider, app, environment, uid, deviceId, tokenHash, collapseId) END AS collapseKey
            FROM (\(rows)) t JOIN pushSends s USING (sendId)
        ), ranked AS MATERIALIZED (
            SELECT *, row_number() OVER (PARTITION BY collapseKey ORDER BY version DESC NULLS FIRST, number DESC) = 1 AS isNewest
            FROM target
        ), newest AS (
            INSERT INTO pushNewest AS n (collapseKey, deliveryId, version, expiresAt)
            SELECT collapseKey, \(nextId), version, expiresAt FROM ranked WHERE collapseKey IS NOT NULL AND isNewest ORDER BY collapseKey
            ON CONFLICT (collapseKey) DO UPDATE SET deliveryId = \(nextId), replaced = n.deliveryId, version = excluded.version,
                expiresAt = greatest(n.expiresAt, excluded.expiresAt)
            WHERE excluded.version IS NULL OR n.version IS NULL OR excluded.version >= n.version
            RETURNING n.collapseKey, n.deliveryId, n.replaced
        ), stored AS (
            INSERT INTO pushDeliveries
                (deliveryId, sendId, queue, uid, deviceId, platform, provider, environment, app, pushToken, tokenHash, collapseKey, createdAt)
            OVERRIDING SYSTEM VALUE
            SELECT coalesce(n.deliveryId, \(nextId)), sendId, queue, uid, deviceId, platform, provider, environment, app, pushToken, tokenHash,
                r.collapseKey, \(now)
            FROM ranked r LEFT JOIN newest n ON n.collapseKey = r.collapseKey AND r.isNewest
            RETURNING deliveryId, queue, sendId, collapseKey
        ), wanted AS (
            SELECT s.* FROM stored s LEFT JOIN newest n USING (deliveryId) WHERE s.collapseKey IS NULL OR n.deliveryId IS NOT NULL
        ), overtaken AS (
            DELETE FROM pushScheduled WHERE deliveryId = ANY(ARRAY(SELECT replaced FROM newest))
            RETURNING deliveryId, queue, attemptNumber - 1 AS attempts
        ), superseded AS (
            INSERT INTO pushFinished (deliveryId, queue, outcome, attempts, finishedAt)
            SELECT deliveryId, queue, 'superseded', attempts, clock_timestamp() FROM (
                SELECT deliveryId, queue, attempts FROM overtaken
                UNION ALL SELECT deliveryId, queue, 0 FROM stored WHERE deliveryId NOT IN (SELECT deliveryId FROM wanted)
            ) ended
            RETURNING deliveryId, attempts
        ), \(EnqueueQueries.waiting("wanted", mayBeLater: mayBeLater))
        SELECT count, s.deliveryId, s.attempts FROM (SELECT count(*) FROM stored) total LEFT JOIN superseded s ON true
        """
    }

    /// Which of these claimed deliveries may be attempted; those are in flight now.
    static func begin(_ claimed: [(deliveryId: Int64, keys: NewestKeys, expiresAt: Timestamp)]) -> Query {
        """
        WITH open AS MATERIALIZED (
            SELECT DISTINCT ON (tokenKey) tokenKey, c.deliveryId, c.expiresAt
            FROM unnest(\(claimed.map(\.deliveryId)), \(claimed.map(\.keys.own)), \(claimed.map(\.keys.token)), \(claimed.map(\.expiresAt)))
                AS c(deliveryId, ownKey, tokenKey, expiresAt)
            LEFT JOIN pushNewest n ON n.collapseKey = c.ownKey
            WHERE n.deliveryId IS NULL OR n.deliveryId = c.deliveryId
            ORDER BY tokenKey, c.deliveryId DESC
        )
        INSERT INTO pushNewest AS n (collapseKey, deliveryId, inFlight, inFlightUntil, expiresAt)
        SELECT tokenKey, deliveryId, deliveryId, clock_timestamp() + \(flightLimit.inSeconds) * interval '1 second', expiresAt
        FROM open ORDER BY tokenKey
        ON CONFLICT (collapseKey) DO UPDATE SET deliveryId = excluded.deliveryId, inFlight = excluded.inFlight,
            inFlightUntil = excluded.inFlightUntil, expiresAt = greatest(n.expiresAt, excluded.expiresAt)
        WHERE n.deliveryId <= excluded.deliveryId
          AND (n.inFlight IS NULL OR n.inFlight = excluded.inFlight OR n.inFlightUntil <= clock_timestamp())
        RETURNING inFlight
        """
    }

    /// Why the others may not: whether there is a newer one, else until when to wait.
    static func refusals(_ claimed: [(deliveryId: Int64, keys: NewestKeys, expiresAt: Timestamp)]) -> Query {
        """
        SELECT c.deliveryId, coalesce(greatest(own.deliveryId, token.deliveryId) > c.deliveryId, false),
            coalesce(token.inFlightUntil, clock_timestamp())
        FROM unnest(\(claimed.map(\.deliveryId)), \(claimed.map(\.keys.own)), \(claimed.map(\.keys.token))) AS c(deliveryId, ownKey, tokenKey)
        LEFT JOIN pushNewest own ON own.collapseKey = c.ownKey LEFT JOIN pushNewest token ON token.collapseKey = c.tokenKey
        """
    }

    /// Ends the flights of these deliveries and makes due what waited for them. Those that a newer one has replaced.
    static func finish(_ ended: [(deliveryId: Int64, keys: NewestKeys)], on connection: BlockingConnection) throws -> Set<Int64> {
        guard !ended.isEmpty else { return [] }
        let keys = Array(Set(ended.flatMap { [$0.keys.own, $0.keys.token] }))
        // In one order everywhere: two transactions that need the same rows must not wait for each other.
        let rows = try connection.query(
            """
            SELECT collapseKey, deliveryId, inFlight, inFlightUntil FROM pushNewest
            WHERE collapseKey = ANY(\(keys)) ORDER BY collapseKey FOR UPDATE
            """
        ).map { try $0.decode(([UInt8], Int64, Int64?, Timestamp?).self) }
        let locked = Dictionary(uniqueKeysWithValues: rows.map { ($0.0, (newest: $0.1, inFlight: $0.2, until: $0.3)) })
        var replaced: Set<Int64> = []
        var flights: [[UInt8]] = []
        var waiting: [(deliveryId: Int64, until: Timestamp)] = []
        for (deliveryId, keys) in ended {
            let token = locked[keys.token]
            let newer = [locked[keys.own], token].compactMap { $0?.newest }.max().flatMap { $0 > deliveryId ? $0 : nil }
            if newer != nil { replaced.insert(deliveryId) }
            guard let token, token.inFlight == deliveryId else { continue }
            flights.append(keys.token)
            if let newer, let until = token.until { waiting.append((newer, until)) }
        }
        // What waits does so until exactly this time. By arrays: next to an old snapshot a join may read all that has ever waited.
        if !waiting.isEmpty {
            try connection.executeLater(
                """
                UPDATE pushScheduled SET runAt = clock_timestamp()
                WHERE deliveryId = ANY(\(waiting.map(\.deliveryId))) AND runAt = ANY(\(waiting.map(\.until)))
                """
            )
        }
        if !flights.isEmpty {
            try connection.executeLater("UPDATE pushNewest SET inFlight = NULL, inFlightUntil = NULL WHERE collapseKey = ANY(\(flights))")
        }
        return replaced
    }

    /// Rows of which no delivery can be attempted any more. A dead letter of the last days can be retried.
    static let forget: Query = """
        DELETE FROM pushNewest WHERE collapseKey IN (
            SELECT collapseKey FROM pushNewest WHERE expiresAt < statement_timestamp() - interval '7 days' LIMIT 5000 FOR UPDATE SKIP LOCKED
        )
        """
}
