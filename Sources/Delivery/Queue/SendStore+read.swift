import Attempts
import Postgres
import PushContract

extension SendStore {
    /// A send with a page of its deliveries and their attempts; nil when there is none with this id.
    ///
    /// - Parameters:
    ///   - after: the delivery after which the page begins.
    ///   - limit: deliveries at most.
    package func send(_ sendId: String, after: Int64 = 0, limit: Int = StoredSend.pageLimit) async throws -> StoredSend? {
        guard let row = try await pool.query(ReadQueries.send(sendId)).first else { return nil }
        var deliveries = try await pool.query(ReadQueries.deliveries(of: sendId, after: after, limit: limit + 1)).map(
            StoredSend.Delivery.init
        )
        let hasMore = deliveries.count > limit
        if hasMore { deliveries.removeLast() }
        var counts = Dictionary(grouping: deliveries, by: \.state).mapValues(\.count)
        var attemptCount = deliveries.reduce(0) { $0 + $1.attempts }
        if hasMore || after > 0 {
            attemptCount = 0
            counts = [:]
            for row in try await pool.query(ReadQueries.counts(of: sendId)) {
                let (state, count, attempts) = try row.decode((String, Int, Int).self)
                counts[try stored(state)] = count
                attemptCount += attempts
            }
        }
        var stored = try StoredSend(row, deliveries: deliveries, counts: counts, attempts: [])
        stored.attemptCount = attemptCount
        stored.next = hasMore ? deliveries.last?.deliveryId : nil
        let uids = Set(deliveries.map { ExactText($0.uid) }).map(\.text)
        let attempts = try await AttemptStore(pool).list(
            sendId: sendId,
            uids: uids,
            since: stored.createdAt,
            limit: StoredSend.attemptLimit + 1
        )
        stored.attempts = Array(attempts.prefix(StoredSend.attemptLimit))
        stored.areAttemptsTruncated = attempts.count > StoredSend.attemptLimit
        return stored
    }

    /// The apps that a send goes to; none for a send that is not there.
    package func apps(of sendId: String) async throws -> [String] {
        try await pool.query(
            """
            SELECT app FROM pushDeliveries JOIN pushQueues USING (queue) WHERE sendId = \(sendId) UNION SELECT unnest(apps) FROM pushFanOuts WHERE sendId = \(sendId) ORDER BY 1
            """
        ).map { try $0.decode(String.self) }
    }
}

enum ReadQueries {
    static func send(_ sendId: String) -> Query {
        """
        SELECT s.sendId, s.requestId, s.author, s.class, s.policy, s.createdAt, s.notBefore, s.expiresAt, c.cancelledAt,
            EXISTS (SELECT FROM pushFanOuts f WHERE f.sendId = s.sendId), s.skipped
        FROM pushSends s LEFT JOIN pushCancels c ON c.sendId = s.sendId WHERE s.sendId = \(sendId)
        """
    }

    static func deliveries(of sendId: String, after: Int64, limit: Int) -> Query {
        """
        \(late)
        SELECT d.deliveryId, d.uid, d.deviceId, d.platform, q.provider, q.environment, q.app, \(state), \(attempts),
            coalesce(x.reasonCode, s.reasonCode), x.providerErrorCode, coalesce(f.providerMessageId, g.messageId),
            CASE WHEN s.circuitId IS NULL THEN s.runAt END, coalesce(f.finishedAt, x.finishedAt, g.writtenAt)
        \(tables)
        LEFT JOIN LATERAL (
            \(SentTogether.row(
                "o.writtenAt, \(messageId) AS messageId",
                of: "d.deliveryId",
                where: isSentTogether
            ))
        ) g ON true
        WHERE d.sendId = \(sendId) AND d.deliveryId > \(after) ORDER BY d.deliveryId LIMIT \(limit)
        """
    }

    private static let messageId = SentMessageId.text(stored: "o.sentMessageIds[array_position(o.sent, d.deliveryId)]")

    /// Of all deliveries of a send, which may be millions.
    static func counts(of sendId: String) -> Query {
        "\(late) SELECT \(state), count(*), sum(\(attempts))::bigint \(tables) WHERE d.sendId = \(sendId) GROUP BY 1"
    }

    /// In leases that have run out and that nobody has taken over yet, which are few.
    private static let late: Query = """
        WITH late AS MATERIALIZED (SELECT deliveryId FROM pushLeasedDeliveries WHERE leaseUntil <= statement_timestamp())
        """

    /// What is in no other place was sent with others.
    private static let isSentTogether: Query = """
        f.deliveryId IS NULL AND x.deliveryId IS NULL AND s.deliveryId IS NULL AND r.deliveryId IS NULL AND l.deliveryId IS NULL
            AND d.deliveryId NOT IN (SELECT deliveryId FROM late)
        """

    private static let attempts: Query = """
        coalesce(f.attempts, x.attempts, l.attemptNumber - 1, s.attemptNumber - 1, r.attemptNumber - 1,
                CASE WHEN \(isSentTogether) THEN 1 ELSE 0 END)
        """

    private static let state: Query = """
        CASE WHEN f.deliveryId IS NOT NULL THEN f.outcome
                WHEN x.deliveryId IS NOT NULL THEN x.outcome
                WHEN l.deliveryId IS NOT NULL THEN 'sending'
                WHEN \(isSentTogether) THEN 'sent'
                WHEN c.sendId IS NOT NULL THEN 'cancelled'
                WHEN s.circuitId IS NOT NULL THEN 'blocked'
                WHEN s.reasonCode IS NOT NULL THEN 'retrying'
                WHEN s.deliveryId IS NOT NULL THEN 'scheduled'
                WHEN n.deliveryId <> d.deliveryId THEN 'superseded'
                ELSE 'queued' END
        """

    private static let tables: Query = """
        FROM pushDeliveries d
        JOIN pushQueues q ON q.queue = d.queue
        LEFT JOIN pushFinishedSingles f ON f.deliveryId = d.deliveryId
        LEFT JOIN pushDead x ON x.deliveryId = d.deliveryId
        LEFT JOIN pushLeasedDeliveries l ON l.deliveryId = d.deliveryId AND l.leaseUntil > statement_timestamp()
        LEFT JOIN pushScheduled s ON s.deliveryId = d.deliveryId
        LEFT JOIN pushReady r ON r.deliveryId = d.deliveryId
        LEFT JOIN pushCancels c ON c.sendId = d.sendId
        LEFT JOIN pushNewest n ON n.collapseKey = d.collapseKey
        """
}
