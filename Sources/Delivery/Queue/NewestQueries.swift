import Postgres
import PushContract

/// The SQL of "newest wins": of the deliveries with one `collapseId` to one device or token only the newest is attempted.
///
/// The order is that of locking the row of `pushNewest`, or the caller's `version`. What waits when a newer one comes ends as superseded: at once
/// if it is scheduled (a retry, behind a circuit, not due yet), else when a worker comes to it, so that nothing searches `pushReady`. An older
/// one that is in flight is waited for.
enum NewestQueries {
    private static let nextId: Query = "nextval('pushDeliveries_deliveryId_seq')"

    /// A delivery that is stored and to be leased in the same transaction (`lease`).
    struct Flight {
        var deliveryId: Int64
        /// Of its device; of its token if it is sent to one.
        var key: [UInt8]
        var entry: WaitingDelivery
    }

    /// Inserts deliveries with a `collapseId` and puts each where it waits, but for those that are to be leased, which it returns.
    static func insert(_ entries: [WaitingDelivery], now: Timestamp, on connection: BlockingConnection) throws -> [Flight] {
        guard !entries.isEmpty else { return [] }
        let mayBeLater = entries.contains { $0.send.notBefore != nil }
        let inserted = try insert(EnqueueQueries.rows(entries), mayBeLater: mayBeLater, now: now, on: connection)
        return inserted.direct.map { Flight(deliveryId: $0.deliveryId, key: $0.key, entry: entries[$0.index]) }
    }

    /// The same for rows as of `EnqueueQueries.rows`; how many, and the direct ones with their index among the rows.
    ///
    /// - Parameter acceptedAs: of a send that is stored in portions.
    static func insert(
        _ rows: Query,
        mayBeLater: Bool,
        acceptedAs: Int64? = nil,
        now: Timestamp,
        on connection: BlockingConnection
    ) throws -> (count: Int, direct: [(index: Int, deliveryId: Int64, key: [UInt8])]) {
        var count = 0
        var direct: [(index: Int, deliveryId: Int64, key: [UInt8])] = []
        var superseded: [(deliveryId: Int64, attempts: Int)] = []
        for row in try connection.query(insert(rows, mayBeLater: mayBeLater, acceptedAs: acceptedAs, now: now)) {
            let (total, deliveryId, attempts, ordinal, key) = try row.decode((Int, Int64?, Int32?, Int64?, [UInt8]?).self)
            count = total
            guard let deliveryId else { continue }
            if let ordinal, let key {
                direct.append((Int(ordinal) - 1, deliveryId, key))
            } else {
                superseded.append((deliveryId, Int(attempts ?? 0)))
            }
        }
        try SendEvents.record(.superseded, superseded, on: connection)
        return (count, direct)
    }

    /// An identity is taken under the lock of the key: the greater, the newer. Keys are locked in one order everywhere, those of devices before
    /// those of tokens: two transactions that need the same rows must not wait for each other.
    ///
    /// A send that is stored in portions has its place since it was accepted: what was stored later is newer.
    static func insert(_ rows: Query, mayBeLater: Bool, acceptedAs: Int64?, now: Timestamp) -> Query {
        """
        WITH target AS MATERIALIZED (
            SELECT *, pushCollapseKey(provider, app, environment, uid, deviceId, tokenHash, collapseId) AS collapseKey FROM (\(rows)) t
        ), ranked AS MATERIALIZED (
            SELECT *, CASE WHEN row_number() OVER (PARTITION BY collapseKey ORDER BY version DESC NULLS FIRST, ordinal DESC) = 1
                THEN collapseKey END AS firstKey
            FROM target
        ), newest AS (
            INSERT INTO pushNewest AS n (collapseKey, deliveryId, version, acceptedAs, expiresAt)
            SELECT collapseKey, \(nextId), version, \(acceptedAs)::bigint, expiresAt FROM ranked WHERE firstKey IS NOT NULL
            ORDER BY deviceId IS NULL, collapseKey
            ON CONFLICT (collapseKey) DO UPDATE SET deliveryId = \(nextId), replaced = n.deliveryId, version = excluded.version,
                acceptedAs = excluded.acceptedAs, expiresAt = greatest(n.expiresAt, excluded.expiresAt)
            WHERE CASE WHEN excluded.version <> n.version THEN excluded.version > n.version
                ELSE excluded.acceptedAs IS NULL OR excluded.acceptedAs >= coalesce(n.acceptedAs, n.deliveryId) END
            RETURNING n.collapseKey, n.deliveryId, n.replaced
        ), placed AS MATERIALIZED (
            -- A full join is never a nested loop, which PostgreSQL would take as it does not know how many rows there are.
            SELECT r.*, coalesce(n.deliveryId, \(nextId)) AS deliveryId, n.deliveryId IS NOT NULL AS isNewest
            FROM ranked r FULL JOIN newest n ON n.collapseKey = r.firstKey
        ), stored AS (
            INSERT INTO pushDeliveries
                (deliveryId, sendId, queue, uid, deviceId, platform, provider, environment, app, pushToken, tokenHash, collapseKey, createdAt)
            OVERRIDING SYSTEM VALUE
            SELECT deliveryId, sendId, queue, uid, deviceId, platform, provider, environment, app, pushToken, tokenHash, collapseKey, \(now)
            FROM placed
        ), wanted AS (
            SELECT deliveryId, queue, sendId FROM placed WHERE isNewest AND NOT isDirect
        ), overtaken AS (
            DELETE FROM pushScheduled WHERE deliveryId = ANY(ARRAY(SELECT replaced FROM newest))
            RETURNING deliveryId, queue, attemptNumber - 1 AS attempts
        ), superseded AS (
            INSERT INTO pushFinished (deliveryId, queue, outcome, attempts, finishedAt)
            SELECT deliveryId, queue, 'superseded', attempts, clock_timestamp() FROM (
                SELECT deliveryId, queue, attempts FROM overtaken
                UNION ALL SELECT deliveryId, queue, 0 FROM placed WHERE NOT isNewest
            ) ended
            RETURNING deliveryId, attempts
        ), \(EnqueueQueries.waiting("wanted", mayBeLater: mayBeLater))
        SELECT count, e.* FROM (SELECT count(*) FROM placed) total LEFT JOIN (
            SELECT deliveryId, attempts, NULL::bigint, NULL::bytea FROM superseded
            UNION ALL SELECT deliveryId, NULL, ordinal, collapseKey FROM placed WHERE isNewest AND isDirect
        ) e ON true
        """
    }

    /// Leases deliveries that the same transaction has stored where none is in flight to their token; the others wait in the queue. Of those
    /// that are leased, in any order, what `EnqueueQueries.lease` returns.
    ///
    /// It locks the keys of tokens, so its transaction may not hold others of them: all deliveries with a `collapseId` that it stores are to
    /// tokens, or those that it leases are to devices, and so are the others.
    static func lease(_ flights: [Flight], lease duration: Duration, worker: String) -> Query {
        let entries = flights.map(\.entry)
        let new = entries.map(\.delivery)
        return """
            WITH lease AS MATERIALIZED (
                \(EnqueueQueries.lease)
            ), target AS MATERIALIZED (
                SELECT t.deliveryId, t.queue, 1 AS attemptNumber, lease.leaseToken, lease.claimedAt, \(EnqueueQueries.device),
                    pushCollapseKey(t.provider::pushProvider, t.app, coalesce(v.environment, t.environment::pushEnvironment), t.uid, NULL,
                        coalesce(v.pushTokenHash, t.tokenHash), t.collapseId) AS tokenKey,
                    t.expiresAt, coalesce(v.pushTokenHash, t.tokenHash) IS NOT NULL AS hasToken
                FROM unnest((SELECT \(flights.map(\.deliveryId))), (SELECT \(entries.map(\.queue.id))), (SELECT \(new.map(\.uid))),
                    (SELECT \(new.map(\.deviceId))), (SELECT \(new.map(\.provider.rawValue))), (SELECT \(new.map(\.environment.rawValue))),
                    (SELECT \(new.map(\.app))), (SELECT \(new.map(\.token?.hash))), (SELECT \(entries.map(\.send.content.collapseId))),
                    (SELECT \(entries.map(\.send.expiresAt))))
                    AS t(deliveryId, queue, uid, deviceId, provider, environment, app, tokenHash, collapseId, expiresAt)
                CROSS JOIN lease
                LEFT JOIN devices v ON v.userId = t.uid AND v.deviceId = t.deviceId AND v.provider = t.provider::pushProvider AND v.app = t.app
                    AND v.expiresAt > clock_timestamp()
            ), open AS MATERIALIZED (
                SELECT DISTINCT ON (tokenKey) tokenKey, deliveryId, expiresAt FROM target WHERE hasToken ORDER BY tokenKey, deliveryId DESC
            ), begun AS (
                \(begin)
            ), started AS MATERIALIZED (
                SELECT * FROM target WHERE deliveryId IN (SELECT deliveryId FROM begun)
            ), leased AS (
                \(EnqueueQueries.insertLease(of: "started", lease: duration, worker: worker))
            ), ready AS (
                INSERT INTO pushReady (queue, deliveryId, attemptNumber, readyAt)
                SELECT queue, deliveryId, 1, clock_timestamp() FROM target WHERE deliveryId NOT IN (SELECT deliveryId FROM started)
                ORDER BY deliveryId
            )
            SELECT \(EnqueueQueries.leased), tokenKey FROM started
            """
    }

    /// Rows of which no delivery can be attempted any more. A dead letter of the last days can be retried.
    static let forget: Query = """
        DELETE FROM pushNewest WHERE collapseKey IN (
            SELECT collapseKey FROM pushNewest WHERE expiresAt < statement_timestamp() - interval '7 days' LIMIT 5000 FOR UPDATE SKIP LOCKED
        )
        """
}
