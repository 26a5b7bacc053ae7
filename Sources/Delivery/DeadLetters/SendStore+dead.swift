package import Audit
import Postgres
import PushContract

extension SendStore {
    /// Dead letters in one redrive at most.
    package static let retryLimit = 10_000

    /// The dead letters that match, newest first.
    package func deadLetters(_ filter: DeadLetterFilter, limit: Int = 100) async throws -> [DeadLetter] {
        try await pool.query(
            """
            SELECT d.sendId, d.uid, d.deviceId, q.provider, q.app, x.outcome, x.reasonCode, x.providerErrorCode, x.attempts, x.finishedAt
            \(DeadQueries.matching(filter)) ORDER BY x.finishedAt DESC, x.deliveryId LIMIT \(limit)
            """
        ).map(DeadLetter.init)
    }

    /// Puts back all that match, in portions, each with an entry of its own in the audit: those before one that fails are done. What fails
    /// again meanwhile is no more retried. How many.
    package func retryAllDeadLetters(
        _ filter: DeadLetterFilter,
        lifetime: Duration,
        portion: Int = SendStore.retryLimit,
        recording audit: AuditRecorder
    ) async throws -> Int {
        var filter = filter
        // By the clock that sets `finishedAt`: another one would leave out what is dead already, or retry for as long as it is ahead.
        filter.until = try await pool.query("SELECT clock_timestamp()")[0].decode(Timestamp.self)
        var total = 0
        var count = portion
        while count == portion {
            count = try await retryDeadLetters(filter, lifetime: lifetime, limit: portion, recording: audit)
            total += count
        }
        return total
    }

    /// Puts dead letters back into the queue, each as its next try, oldest first, with an entry in the audit; how many.
    ///
    /// What has expired, or is about to, lives `lifetime` longer: that is what a redrive is for. Cancelled sends stay where they are, and
    /// those with a `collapseId` of which it is no longer known whether a newer one was sent.
    package func retryDeadLetters(
        _ filter: DeadLetterFilter,
        lifetime: Duration,
        limit: Int = SendStore.retryLimit,
        recording audit: AuditRecorder
    ) async throws -> Int {
        try await pool.performTransaction { connection in
            let retried = try connection.query(
                """
                WITH picked AS MATERIALIZED (
                    SELECT x.deliveryId, d.sendId \(DeadQueries.matching(filter))
                    AND NOT EXISTS (SELECT FROM pushCancels c WHERE c.sendId = d.sendId)
                    AND (d.collapseKey IS NULL OR EXISTS (SELECT FROM pushNewest n WHERE n.collapseKey = d.collapseKey))
                    ORDER BY x.finishedAt, x.deliveryId LIMIT \(min(limit, SendStore.retryLimit)) FOR UPDATE OF x SKIP LOCKED
                ), taken AS (
                    DELETE FROM pushDead x USING picked WHERE x.deliveryId = picked.deliveryId
                    RETURNING x.deliveryId, x.queue, x.attempts
                ), longer AS (
                    UPDATE pushSends s SET expiresAt = clock_timestamp() + \(lifetime.inSeconds) * interval '1 second'
                    WHERE s.sendId IN (SELECT sendId FROM picked)
                      AND s.expiresAt < clock_timestamp() + \(lifetime.inSeconds) * interval '1 second'
                )
                INSERT INTO pushReady (queue, deliveryId, attemptNumber, readyAt)
                SELECT queue, deliveryId, attempts + 1, clock_timestamp() FROM taken ORDER BY deliveryId
                RETURNING deliveryId, attemptNumber - 1
                """
            ).map { row in
                let (deliveryId, attempts) = try row.decode((Int64, Int32).self)
                return (deliveryId: deliveryId, attempts: Int(attempts))
            }
            try DeadQueries.keepKeys(of: retried.map(\.deliveryId), for: lifetime, on: connection)
            try SendEvents.record(.retried, retried, on: connection)
            try audit.noteRetry(of: filter, count: retried.count, on: connection)
            return retried.count
        }
    }
}

enum DeadQueries {
    /// So that it stays known which is the newest. In the order in which keys are locked everywhere.
    static func keepKeys(of deliveryIds: [Int64], for lifetime: Duration, on connection: BlockingConnection) throws {
        guard !deliveryIds.isEmpty else { return }
        let end: Query = "clock_timestamp() + \(lifetime.inSeconds) * interval '1 second'"
        try connection.executeLater(
            """
            UPDATE pushNewest SET expiresAt = \(end) WHERE collapseKey = ANY(ARRAY(
                SELECT n.collapseKey FROM pushDeliveries d JOIN pushNewest n USING (collapseKey)
                WHERE d.deliveryId = ANY(\(deliveryIds)) AND n.expiresAt < \(end)
                ORDER BY d.deviceId IS NULL, n.collapseKey FOR UPDATE OF n
            ))
            """
        )
    }

    /// Those of sends: the owner of any other delivery makes a new one if it is still wanted.
    static func matching(_ filter: DeadLetterFilter) -> Query {
        """
        FROM pushDead x JOIN pushDeliveries d ON d.deliveryId = x.deliveryId JOIN pushQueues q ON q.queue = d.queue
        WHERE d.sendId IS NOT NULL AND x.finishedAt >= \(filter.since) AND x.finishedAt < \(filter.until)
          AND (\(filter.sendId)::text IS NULL OR d.sendId = \(filter.sendId)::text)
          AND (\(filter.outcome?.rawValue)::text IS NULL OR x.outcome = \(filter.outcome?.rawValue)::text)
          AND (\(filter.reasonCode?.rawValue)::text IS NULL OR x.reasonCode::text = \(filter.reasonCode?.rawValue)::text)
          AND (\(filter.providerErrorCode)::text IS NULL OR x.providerErrorCode = \(filter.providerErrorCode)::text)
          AND (\(filter.provider?.rawValue)::text IS NULL OR q.provider::text = \(filter.provider?.rawValue)::text)
          AND (\(filter.app)::text IS NULL OR q.app = \(filter.app)::text)
        """
    }
}

extension DeadLetter {
    init(_ row: Row) throws {
        let values = try row.decode((String, String, String?, String, String, String, String?, String?, Int32, Timestamp).self)
        self.init(
            sendId: values.0,
            uid: values.1,
            deviceId: values.2,
            provider: try stored(values.3),
            app: values.4,
            outcome: try stored(values.5),
            reasonCode: try values.6.map { try stored($0) },
            providerErrorCode: values.7,
            attempts: Int(values.8),
            finishedAt: values.9
        )
    }
}
