import Postgres
import PushContract

extension SendStore {
    /// All queues, each with the first position at or after its cursor (0 where none is given) at which a delivery is ready.
    package func queues(cursors: [Int32: Int64] = [:]) async throws -> [(queue: SendQueue, first: Int64?)] {
        let cursors = Array(cursors)
        return try await pool.query(
            """
            SELECT l.queue, l.app, l.provider, l.environment, l.class,
                (SELECT r.seq FROM pushReady r WHERE r.queue = l.queue AND r.seq >= coalesce(f.seq, 0) ORDER BY r.seq LIMIT 1)
            FROM pushQueues l LEFT JOIN unnest(\(cursors.map(\.key)), \(cursors.map(\.value))) AS f(queue, seq) ON f.queue = l.queue
            ORDER BY l.queue
            """
        ).map { row in
            let (id, app, provider, environment, deliveryClass, first) = try row.decode(
                (Int32, String, String, String, String, Int64?).self
            )
            let queue = SendQueue(
                id: id,
                app: app,
                provider: try stored(provider),
                environment: try stored(environment),
                deliveryClass: try stored(deliveryClass)
            )
            return (queue, first)
        }
    }

    /// Moves the first `limit` deliveries of a queue from ready to leased and returns them in order; one statement.
    ///
    /// - Parameter cursor: where to begin. Claimed rows leave dead index entries that an open snapshot keeps alive; beginning behind
    ///   them keeps a claim short. Rows may commit before the cursor, so claims without one are needed now and then.
    package func claim(queue: Int32, cursor: Int64, limit: Int, lease: Duration, worker: String) async throws -> [ClaimedDelivery] {
        try await complete(
            try await pool.query(ClaimQueries.claim(queue: queue, cursor: cursor, limit: limit, lease: lease, worker: worker))
        )
    }

    /// What was claimed, ready to be sent.
    func complete(_ rows: [Row]) async throws -> [ClaimedDelivery] {
        var contents = DeliveryContents(texts: texts)
        let claimed = try rows.map { try ClaimedDelivery($0, leaseSize: rows.count, cipher: cipher, contents: &contents) }
        return await kinds.completing(try await beginNewest(try await markDead(claimed)))
    }

    private func markDead(_ claimed: [ClaimedDelivery]) async throws -> [ClaimedDelivery] {
        var marked = claimed
        for group in claimed.namedTokens {
            let dead = try await pool.query(TokenRegistry.dead(among: group.hashes, provider: group.provider, app: group.app))
            try marked.markDead(group, dead)
        }
        return marked
    }

    /// Moves up to `ClaimQueries.promoteLimit` deliveries that have become due (after `since`, if it is given) from scheduled to ready; how
    /// many.
    func promote(since: Timestamp? = nil) async throws -> Int { try await pool.execute(ClaimQueries.promote(since: since)) }

    /// Where the queues are.
    func position() async throws -> QueuePosition {
        let (now, lastReady) = try await pool.query(
            "SELECT statement_timestamp(), coalesce(pg_sequence_last_value('pushReady_seq_seq'), 0)"
        )[0].decode((Timestamp, Int64).self)
        // After the position: a transaction locks the table before it is given one.
        let writers = try await pool.query(
            """
            SELECT virtualtransaction FROM pg_locks
            WHERE relation = 'pushReady'::regclass AND mode = 'RowExclusiveLock'
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            """
        )
        return QueuePosition(now: now, lastReady: lastReady, writers: Set(try writers.map { try $0.decode(String.self) }))
    }
}

/// A token that a send names has no device whose state would say that it is dead; the registry knows.
extension [ClaimedDelivery] {
    struct NamedTokens {
        var provider: Provider
        var app: String
        var indexes: [Int]
        var hashes: [String]
    }

    /// The tokens of deliveries without a device.
    var namedTokens: [NamedTokens] {
        let named = indices.filter { self[$0].deviceId == nil && self[$0].token != nil }
        return Dictionary(grouping: named) { ExactText("\(self[$0].provider.rawValue) \(self[$0].app)") }.values.map { indexes in
            let first = self[indexes[0]]
            return NamedTokens(
                provider: first.provider,
                app: first.app,
                indexes: indexes,
                hashes: indexes.compactMap { self[$0].token?.hash.rawValue }
            )
        }
    }

    /// - Parameter rows: of `TokenRegistry.dead`.
    mutating func markDead(_ tokens: NamedTokens, _ rows: [Row]) throws {
        let dead = Set(try rows.map { try $0.decode(String.self) })
        for index in tokens.indexes where self[index].token.map({ dead.contains($0.hash.rawValue) }) ?? false {
            self[index].tokenState = .inactive
        }
    }
}

enum ClaimQueries {
    /// Deliveries that one statement makes ready.
    static let promoteLimit = 1000

    /// By the time of the statement: an index cannot be searched by `clock_timestamp()`, which is volatile.
    ///
    /// What is deleted is given as an array, here and below: for a join, the index may be read from end to end, next to an old snapshot
    /// with all that was deleted since.
    static func promote(since: Timestamp?) -> Query {
        """
        WITH due AS MATERIALIZED (
            SELECT deliveryId FROM pushScheduled
            WHERE runAt <= statement_timestamp() AND runAt >= coalesce(\(since), timestamptz '-infinity')
            ORDER BY runAt LIMIT \(raw: String(promoteLimit)) FOR UPDATE SKIP LOCKED
        ), moved AS (
            DELETE FROM pushScheduled WHERE deliveryId = ANY(ARRAY(SELECT deliveryId FROM due))
            RETURNING deliveryId, queue, attemptNumber, runAt
        )
        INSERT INTO pushReady (queue, deliveryId, attemptNumber, readyAt)
        SELECT queue, deliveryId, attemptNumber, runAt FROM moved ORDER BY runAt
        """
    }

    /// A row of `pushReady` is never updated, so it stays where it was locked. The outer LIMIT never cuts: it lets the planner know that
    /// the rows are few, which it cannot see from a parameter. Else it may come to read whole tables for the joins once the plan is a
    /// generic one.
    static func claim(queue: Int32, cursor: Int64, limit: Int, lease: Duration, worker: String) -> Query {
        """
        WITH picked AS MATERIALIZED (
            SELECT ctid FROM (
                SELECT ctid FROM pushReady WHERE queue = \(queue) AND seq >= \(cursor)
                ORDER BY seq LIMIT \(limit) FOR UPDATE SKIP LOCKED
            ) first LIMIT 1000
        ), taken AS (
            DELETE FROM pushReady r USING picked WHERE r.ctid = picked.ctid
            RETURNING r.seq, r.deliveryId, r.attemptNumber
        ), \(leasing(lease: lease, worker: worker))
        """
    }

    /// One delivery that a circuit blocks and nobody has locked: those that were attempted least, of these the most urgent class. So one
    /// that is refused for a fault of its own is not the probe again and again.
    static func probe(circuit: Int64, lease: Duration, worker: String) -> Query {
        """
        WITH picked AS MATERIALIZED (
            SELECT s.deliveryId FROM pushCircuits h JOIN pushQueues q ON q.app = h.app AND q.provider = h.provider
            CROSS JOIN LATERAL (
                SELECT deliveryId, attemptNumber FROM pushScheduled WHERE circuitId = h.circuitId AND queue = q.queue
                ORDER BY attemptNumber, deliveryId LIMIT 1 FOR UPDATE SKIP LOCKED
            ) s
            WHERE h.circuitId = \(circuit) ORDER BY s.attemptNumber, q.class LIMIT 1
        ), taken AS (
            DELETE FROM pushScheduled WHERE deliveryId = ANY(ARRAY(SELECT deliveryId FROM picked))
            RETURNING 0::bigint AS seq, deliveryId, attemptNumber
        ), \(leasing(lease: lease, worker: worker, probeOf: circuit))
        """
    }

    /// From what was taken to leases with all that a try needs, in order. Of deliveries of one send in a row the first has the content.
    private static func leasing(lease: Duration, worker: String, probeOf: Int64? = nil) -> Query {
        """
        lease AS MATERIALIZED (
            \(EnqueueQueries.lease)
        ), fresh AS MATERIALIZED (
            SELECT t.seq, t.deliveryId, t.attemptNumber, lease.leaseToken, lease.claimedAt, v.pushTokenHash AS deviceTokenHash,
                d.sendId, d.kind, d.ownerKey, d.expiresAt, d.collapseKey, d.queue, d.uid, d.deviceId, coalesce(v.platform, d.platform) AS platform, q.provider,
                coalesce(v.environment, q.environment) AS environment, q.app, q.class, v.pushToken AS deviceToken, d.pushToken,
                coalesce(v.pushTokenHash, 'sha256:' || encode(d.tokenHash, 'hex')) AS tokenHash, v.registrationVersion, v.tokenState, v.tokenStateSince,
                v.appVersion, v.environmentTrial, v.locale
            FROM taken t
            CROSS JOIN lease
            JOIN pushDeliveries d ON d.deliveryId = t.deliveryId
            JOIN pushQueues q ON q.queue = d.queue
            LEFT JOIN devices v ON v.userId = d.uid AND v.deviceId = d.deviceId AND v.provider = q.provider AND v.app = q.app
                AND v.expiresAt > clock_timestamp() AND d.kind IS NULL
        ), leased AS (
            \(EnqueueQueries.insertLease(of: "fresh", lease: lease, worker: worker, probeOf: probeOf))
        )
        SELECT f.deliveryId, f.leaseToken, f.queue, f.attemptNumber, f.seq, f.claimedAt, f.sendId, f.uid, f.deviceId, f.platform,
            f.provider, f.environment, f.app, f.deviceToken, f.tokenHash, f.registrationVersion, f.tokenState, f.tokenStateSince,
            f.appVersion, c.sendId IS NOT NULL,
            CASE WHEN lag(f.sendId) OVER (ORDER BY f.seq) IS DISTINCT FROM f.sendId THEN s.content END, f.class,
            coalesce(s.policy, 'at_most_once'), coalesce(s.expiresAt, f.expiresAt), coalesce(s.requestId, ''), f.environmentTrial, f.kind,
            f.ownerKey, f.locale, f.collapseKey, CASE WHEN f.collapseKey IS NOT NULL AND f.tokenHash IS NOT NULL
                THEN pushCollapseKey(f.provider, f.app, f.environment, f.uid, NULL, f.tokenHash, s.content::jsonb->>'collapseId') END,
            f.pushToken
        FROM fresh f LEFT JOIN pushSends s ON s.sendId = f.sendId LEFT JOIN pushCancels c ON c.sendId = f.sendId
        WHERE s.sendId IS NOT NULL OR f.kind IS NOT NULL
        ORDER BY f.seq
        """
    }
}
