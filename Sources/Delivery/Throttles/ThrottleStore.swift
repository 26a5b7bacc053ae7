package import Audit
package import Postgres
package import PushContract

/// The throttles in PostgreSQL, with the level of each one's bucket: one limit for all instances. Safe to use from any task.
package struct ThrottleStore: Sendable {
    private static let columns = "provider, app, perMinute, reason, author, createdAt, expiresAt, share"

    private let pool: PostgresPool

    package init(pool: PostgresPool) { self.pool = pool }

    /// Those in force.
    package func current() async throws -> [SendThrottle] {
        try await pool.query(
            """
            SELECT \(raw: ThrottleStore.columns) FROM pushThrottles
            WHERE expiresAt > clock_timestamp() ORDER BY provider, app
            """
        ).map(SendThrottle.init)
    }

    /// Sets throttles, replacing those of the same provider and app, with an entry in the audit for each. The bucket starts with one send:
    /// a probe goes at once.
    package func set(_ throttles: [SendThrottle], recording audit: AuditRecorder) async throws {
        try await pool.performTransaction { connection in
            for throttle in throttles {
                let replaced = try connection.query(
                    """
                    SELECT \(raw: ThrottleStore.columns) FROM pushThrottles
                    WHERE provider = \(throttle.provider.rawValue) AND app = \(throttle.app ?? "") AND expiresAt > clock_timestamp()
                    FOR UPDATE
                    """
                ).first.map(SendThrottle.init)
                let perMinute = try throttle.share.map { $0 * (try ThrottleStore.flow(of: throttle, on: connection)) } ?? throttle.perMinute
                let rows = try connection.query(
                    """
                    INSERT INTO pushThrottles (provider, app, perMinute, reason, author, createdAt, expiresAt, allowance, refilledAt, share)
                    VALUES (\(throttle.provider.rawValue), \(throttle.app ?? ""), \(perMinute), \(throttle.reason),
                        \(throttle.author), \(throttle.createdAt), \(throttle.expiresAt), 1, clock_timestamp(), \(throttle.share))
                    ON CONFLICT (provider, app) DO UPDATE SET perMinute = excluded.perMinute, reason = excluded.reason,
                        author = excluded.author, createdAt = excluded.createdAt, expiresAt = excluded.expiresAt,
                        allowance = least(pushThrottles.allowance, 1), refilledAt = excluded.refilledAt,
                        share = excluded.share
                    RETURNING \(raw: ThrottleStore.columns)
                    """
                )
                let stored = try SendThrottle(rows[0])
                try audit.note(
                    .addThrottle,
                    stored.subject,
                    stored.summary,
                    before: replaced.map(ThrottleDocument.Throttle.init),
                    after: ThrottleDocument.Throttle(stored),
                    on: connection
                )
            }
        }
    }

    /// Non-critical deliveries a minute, over the last five: those that came, or that ended if these are more.
    private static func flow(of throttle: SendThrottle, on connection: BlockingConnection) throws -> Double {
        let queues: Query = """
            SELECT queue FROM pushQueues WHERE class <> 'critical' AND provider = \(throttle.provider.rawValue)::pushProvider
                AND (\(throttle.app)::text IS NULL OR app = \(throttle.app)::text)
            """
        let count = try connection.query(
            """
            SELECT greatest(
                (SELECT count(*) FROM pushDeliveries WHERE createdAt > statement_timestamp() - interval '5 minutes' AND queue IN (\(queues))),
                (SELECT count(*) FROM pushFinished WHERE finishedAt > statement_timestamp() - interval '5 minutes' AND queue IN (\(queues)))
                    + (SELECT count(*) FROM pushDead WHERE finishedAt > statement_timestamp() - interval '5 minutes' AND queue IN (\(queues)))
            )
            """
        )[0].decode(Int.self)
        return Double(count) / 5
    }

    /// Lifts the throttle of a provider and app; all of them when neither is named. With an entry in the audit for each; how many there
    /// were.
    package func remove(provider: Provider?, app: String?, recording audit: AuditRecorder) async throws -> Int {
        try await pool.performTransaction { connection in
            let removed = try connection.query(
                """
                DELETE FROM pushThrottles
                WHERE (\(provider?.rawValue)::pushProvider IS NULL OR provider = \(provider?.rawValue)::pushProvider)
                  AND (\(app)::text IS NULL OR app = \(app)::text)
                RETURNING \(raw: ThrottleStore.columns)
                """
            ).map(SendThrottle.init)
            for throttle in removed {
                try audit.note(.removeThrottle, throttle.subject, before: ThrottleDocument.Throttle(throttle), on: connection)
            }
            return removed.count
        }
    }

    /// Takes up to `wanted` sends out of a throttle's bucket; `wanted` when the throttle has ended meanwhile.
    package func take(_ wanted: Int, from throttle: SendThrottle) async throws -> Int {
        try await pool.performTransaction { connection in
            let rows = try connection.query(
                """
                SELECT perMinute, allowance, refilledAt, clock_timestamp() FROM pushThrottles
                WHERE provider = \(throttle.provider.rawValue) AND app = \(throttle.app ?? "") AND expiresAt > clock_timestamp()
                FOR UPDATE
                """
            )
            guard let row = rows.first else { return wanted }
            let (perMinute, allowance, refilledAt, now) = try row.decode((Double, Double, Timestamp, Timestamp).self)
            let bucket = ThrottleDecision.Bucket(perMinute: perMinute, allowance: allowance, refilledAt: refilledAt)
            let taken = ThrottleDecision.take(wanted, from: bucket, now: now)
            try connection.execute(
                """
                UPDATE pushThrottles SET allowance = \(taken.bucket.allowance), refilledAt = \(taken.bucket.refilledAt)
                WHERE provider = \(throttle.provider.rawValue) AND app = \(throttle.app ?? "")
                """
            )
            return taken.granted
        }
    }

    /// Gives back what was taken and found nothing to send.
    package func refund(_ unused: Int, to throttle: SendThrottle) async throws {
        guard unused > 0 else { return }
        try await pool.execute(
            """
            UPDATE pushThrottles SET allowance = allowance + \(Double(unused))
            WHERE provider = \(throttle.provider.rawValue) AND app = \(throttle.app ?? "")
            """
        )
    }
}

extension SendThrottle {
    init(_ row: Row) throws {
        let values = try row.decode((String, String, Double, String, String, Timestamp, Timestamp, Double?).self)
        self.init(
            provider: try stored(values.0),
            app: values.1.isEmpty ? nil : values.1,
            perMinute: values.2,
            reason: values.3,
            author: values.4,
            createdAt: values.5,
            expiresAt: values.6,
            share: values.7
        )
    }
}
