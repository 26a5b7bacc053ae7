import Postgres
import PushContract

/// The SQL of "newest wins": of the deliveries with one `collapseId` to one device or token only the newest is attempted.
///
/// The order is that of locking the row of `pushNewest`; of two with a `version`, that of their versions, unless one without came in
/// between. What waits when a newer one comes ends as superseded: at once if it is scheduled (a retry, behind a circuit, not due yet), else
/// when a worker comes to it, so that nothing searches `pushReady`. An older one that is in flight is waited for.
enum NewestQueries {
    private static let nextId: Query = "nextval('pushDeliveries_deliveryId_seq')"

    /// A delivery that is stored and to be leased in the same transaction (`lease`).
    struct Flight {
        var deliveryId: Int64
        /// Of its device; of its token if it is sent to one.
        var key: [UInt8]
        /// As the row of `pushNewest` has it.
        var versionsSince: Int64?
        var entry: WaitingDelivery
    }

    typealias Superseded = (deliveryId: Int64, attempts: Int)

    /// Inserts deliveries with a `collapseId` and puts each where it waits, but for those that are to be leased, which it returns.
    static func insert(_ entries: [WaitingDelivery], now: Timestamp, on connection: BlockingConnection) throws -> [Flight] {
        guard !entries.isEmpty else { return [] }
        let mayBeLater = entries.contains { $0.send.notBefore != nil }
        let inserted = try insert(EnqueueQueries.rows(entries), mayBeLater: mayBeLater, now: now, on: connection)
        try SendEvents.record(.superseded, inserted.superseded, on: connection)
        return inserted.direct.map {
            Flight(deliveryId: $0.deliveryId, key: $0.key, versionsSince: $0.versionsSince, entry: entries[$0.index])
        }
    }

    /// The same for rows as of `EnqueueQueries.rows`; how many, the direct ones with their index among the rows, and what is superseded,
    /// which the caller records.
    ///
    /// - Parameter acceptedAs: of a send that is stored in portions.
    static func insert(
        _ rows: Query,
        mayBeLater: Bool,
        acceptedAs: Int64? = nil,
        now: Timestamp,
        on connection: BlockingConnection
    ) throws -> (count: Int, direct: [(index: Int, deliveryId: Int64, key: [UInt8], versionsSince: Int64?)], superseded: [Superseded]) {
        var count = 0
        var direct: [(index: Int, deliveryId: Int64, key: [UInt8], versionsSince: Int64?)] = []
        var superseded: [Superseded] = []
        for row in try connection.query(insert(rows, mayBeLater: mayBeLater, acceptedAs: acceptedAs, now: now)) {
            let (total, deliveryId, attempts, ordinal, key, versionsSince) = try row.decode(
                (Int, Int64?, Int32?, Int64?, [UInt8]?, Int64?).self
            )
            count = total
            guard let deliveryId else { continue }
            if let ordinal, let key {
                direct.append((Int(ordinal) - 1, deliveryId, key, versionsSince))
            } else {
                superseded.append((deliveryId, Int(attempts ?? 0)))
            }
        }
        return (count, direct, superseded)
    }

    /// Each of these rows, in an order within each key, with `isFirst`: whether it is the newest after all of its key have come in this
    /// order.
    ///
    /// One without a `version` replaces all before it: versions are compared only within an `epoch`, which such a row begins.
    private static func ranked(_ rows: Query, by key: Query, in order: Query) -> Query {
        """
        SELECT *, row_number() OVER (PARTITION BY \(key) ORDER BY epoch DESC, version DESC NULLS LAST, \(order) DESC) = 1 AS isFirst
        FROM (SELECT *, count(*) FILTER (WHERE version IS NULL) OVER (PARTITION BY \(key) ORDER BY \(order)) AS epoch FROM \(rows)) counted
        """
    }

    /// `open`: of these deliveries, the newest to each token.
    static func open(_ deliveries: Query) -> Query {
        """
        open AS MATERIALIZED (
            SELECT * FROM (\(ranked(deliveries, by: "tokenKey", in: "deliveryId"))) ranked WHERE isFirst
        )
        """
    }

    /// Whether a row of `pushNewest` is the same delivery as another's, or a newer one.
    static func replaces(_ new: Query, _ old: Query) -> Query {
        """
        CASE WHEN \(new).version <> \(old).version AND (greatest(\(new).versionsSince, \(old).versionsSince)
            < least(\(new).deliveryId, \(old).deliveryId)) IS NOT FALSE THEN \(new).version > \(old).version
            ELSE \(new).deliveryId >= \(old).deliveryId END
        """
    }

    /// An identity is taken under the lock of the key: the greater, the newer. Keys are locked in one order everywhere, those of devices
    /// before those of tokens: two transactions that need the same rows must not wait for each other.
    ///
    /// One that comes with another without a `version` before it (`versionsSince`) replaces what is stored, as that would have.
    ///
    /// A send that is stored in portions has its place since it was accepted: what was stored later is newer.
    static func insert(_ rows: Query, mayBeLater: Bool, acceptedAs: Int64?, now: Timestamp) -> Query {
        """
        WITH target AS MATERIALIZED (
            SELECT *, pushCollapseKey(provider, app, environment, uid, deviceId, 'sha256:' || encode(tokenHash, 'hex'), collapseId)
                AS collapseKey FROM (\(rows)) t
        ), ranked AS MATERIALIZED (
            SELECT *, CASE WHEN isFirst THEN collapseKey END AS firstKey FROM (\(ranked("target", by: "collapseKey", in: "ordinal"))) r
        ), newest AS (
            INSERT INTO pushNewest AS n (collapseKey, deliveryId, version, versionsSince, acceptedAs, expiresAt)
            SELECT collapseKey, deliveryId, version, CASE WHEN version IS NOT NULL AND epoch > 0 THEN deliveryId - 1 END,
                \(acceptedAs)::bigint, expiresAt
            FROM (SELECT *, \(nextId) AS deliveryId FROM ranked WHERE firstKey IS NOT NULL) r
            ORDER BY deviceId IS NULL, collapseKey
            ON CONFLICT (collapseKey) DO UPDATE SET deliveryId = \(nextId), replaced = n.deliveryId, version = excluded.version,
                versionsSince = CASE
                    WHEN excluded.versionsSince IS NULL AND excluded.version >= n.version THEN n.versionsSince
                    WHEN excluded.version IS NOT NULL THEN greatest(excluded.versionsSince, coalesce(n.acceptedAs, n.deliveryId)) END,
                acceptedAs = excluded.acceptedAs, expiresAt = greatest(n.expiresAt, excluded.expiresAt)
            WHERE CASE WHEN excluded.versionsSince IS NULL AND excluded.version <> n.version
                    AND (excluded.acceptedAs <= n.versionsSince) IS NOT TRUE THEN excluded.version > n.version
                ELSE excluded.acceptedAs IS NULL OR excluded.acceptedAs >= coalesce(n.acceptedAs, n.deliveryId) END
            RETURNING n.collapseKey, n.deliveryId, n.replaced, n.versionsSince
        ), placed AS MATERIALIZED (
            -- A full join is never a nested loop, which PostgreSQL would take as it does not know how many rows there are.
            SELECT r.*, coalesce(n.deliveryId, \(nextId)) AS deliveryId, n.deliveryId IS NOT NULL AS isNewest, n.versionsSince
            FROM ranked r FULL JOIN newest n ON n.collapseKey = r.firstKey
        ), stored AS (
            INSERT INTO pushDeliveries
                (deliveryId, sendId, queue, uid, deviceId, platform, pushToken, tokenHash, collapseKey, createdAt)
            OVERRIDING SYSTEM VALUE
            SELECT deliveryId, sendId, queue, uid, deviceId, platform, pushToken, tokenHash, collapseKey, \(now)
            FROM placed
        ), wanted AS (
            SELECT deliveryId, queue, sendId FROM placed WHERE isNewest AND NOT isDirect
        ), overtaken AS (
            DELETE FROM pushScheduled WHERE deliveryId = ANY(ARRAY(SELECT replaced FROM newest))
            RETURNING deliveryId, queue, attemptNumber - 1 AS attempts
        ), superseded AS (
            INSERT INTO pushFinishedSingles (deliveryId, queue, outcome, attempts, finishedAt)
            SELECT deliveryId, queue, 'superseded', attempts, clock_timestamp() FROM (
                SELECT deliveryId, queue, attempts FROM overtaken
                UNION ALL SELECT deliveryId, queue, 0 FROM placed WHERE NOT isNewest
            ) ended
            RETURNING deliveryId, attempts
        ), \(EnqueueQueries.waiting("wanted", mayBeLater: mayBeLater))
        SELECT count, e.* FROM (SELECT count(*) FROM placed) total LEFT JOIN (
            SELECT deliveryId, attempts, NULL::bigint, NULL::bytea, NULL::bigint FROM superseded
            UNION ALL SELECT deliveryId, NULL, ordinal, collapseKey, versionsSince FROM placed WHERE isNewest AND isDirect
        ) e ON true
        """
    }

    /// Leases deliveries that the same transaction has stored where none is in flight to their token; the others wait in the queue. Of
    /// those that are leased, in any order, what `EnqueueQueries.lease` returns.
    ///
    /// It locks the keys of tokens, so its transaction may not hold others of them: all deliveries with a `collapseId` that it stores are
    /// to tokens, or those that it leases are to devices, and so are the others.
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
                    t.version, t.versionsSince, t.expiresAt, coalesce(v.pushTokenHash, t.tokenHash) IS NOT NULL AS hasToken
                FROM unnest((SELECT \(flights.map(\.deliveryId))), (SELECT \(entries.map(\.queue.id))), (SELECT \(new.map(\.uid))),
                    (SELECT \(new.map(\.deviceId))), (SELECT \(new.map(\.provider.rawValue))), (SELECT \(new.map(\.environment.rawValue))),
                    (SELECT \(new.map(\.app))), (SELECT \(new.map(\.token?.hash))), (SELECT \(entries.map(\.send.content.collapseId))),
                    (SELECT \(entries.map(\.send.version))), (SELECT \(flights.map(\.versionsSince))), (SELECT \(entries.map(\.send.expiresAt))))
                    AS t(deliveryId, queue, uid, deviceId, provider, environment, app, tokenHash, collapseId, version, versionsSince, expiresAt)
                CROSS JOIN lease
                LEFT JOIN devices v ON v.userId = t.uid AND v.deviceId = t.deviceId AND v.provider = t.provider::pushProvider AND v.app = t.app
                    AND v.expiresAt > clock_timestamp()
            ), \(open("(SELECT tokenKey, deliveryId, version, versionsSince, expiresAt FROM target WHERE hasToken) t")), begun AS (
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
