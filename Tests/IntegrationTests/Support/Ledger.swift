import Postgres
import Testing

/// What a database holds, counted in SQL and never by what the service says of itself.
struct Ledger {
    let session: any PostgresSession

    /// Combinations of dimensions whose rollup differs from a count over the rows, and minutes whose latencies are not as many as the
    /// rollups'.
    func rollupMismatches() async throws -> Int {
        try await session.query(
            """
            SELECT (SELECT count(*) FROM (
                SELECT minute, provider, app FROM (
                    SELECT minute, provider, app, attempts AS timed FROM attemptLatencies
                    UNION ALL SELECT minute, provider, app, -latencyCount FROM attemptRollups
                ) counted GROUP BY 1, 2, 3 HAVING sum(timed) <> 0
            ) differing) + count(*) FROM (
                SELECT minute, provider, platform, eventType, status, reasonCode, app, environment, pushType,
                       sum(attempts)::bigint AS n, sum(latencyMsSum)::bigint AS ms, sum(latencyCount)::bigint AS timed
                FROM attemptRollups GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9 HAVING sum(attempts) <> 0
            ) r FULL JOIN (
                SELECT date_trunc('minute', attemptedAt, 'UTC') AS minute, provider, platform, eventType, status,
                       coalesce(reasonCode::text, '') AS reasonCode, coalesce(app, '') AS app,
                       coalesce(environment::text, '') AS environment, coalesce(pushType, '') AS pushType,
                       count(*) AS n, coalesce(sum(latencyMs), 0)::bigint AS ms, count(latencyMs) AS timed
                FROM notificationDeliveryAttempts GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
            ) f USING (minute, provider, platform, eventType, status, reasonCode, app, environment, pushType)
            WHERE (r.n, r.ms, r.timed) IS DISTINCT FROM (f.n, f.ms, f.timed)
            """
        )[0].decode(Int.self)
    }

    var rows: Int { get async throws { try await session.query("SELECT count(*) FROM notificationDeliveryAttempts")[0].decode(Int.self) } }

    /// Ids that have more than one row.
    var doubled: Int {
        get async throws {
            try await session.query(
                "SELECT count(*) FROM (SELECT 1 FROM notificationDeliveryAttempts GROUP BY attemptId HAVING count(*) > 1) d"
            )[0].decode(Int.self)
        }
    }

    /// How many of these ids have a row, with the content that belongs to the id.
    func found(_ ids: Set<String>) async throws -> Int {
        let all = Array(ids)
        var found = 0
        for start in stride(from: 0, to: all.count, by: 50_000) {
            found += try await foundSome(Array(all[start..<min(start + 50_000, all.count)]))
        }
        return found
    }

    private func foundSome(_ ids: [String]) async throws -> Int {
        try await session.query(
            """
            SELECT count(DISTINCT a.attemptId) FROM unnest(\(ids)) AS i (id)
            JOIN notificationDeliveryAttempts a ON a.attemptId = i.id
            WHERE a.uid = 'user-' || i.id AND a.requestId = 'request-' || i.id AND a.latencyMs = length(i.id)
            """
        )[0].decode(Int.self)
    }

    /// Rows and ledger entries that lack each other.
    var strays: Int {
        get async throws {
            try await session.query(
                """
                SELECT count(*) FROM notificationDeliveryAttempts a FULL JOIN attemptLedger l USING (attemptKey, attemptedAt)
                WHERE a.attemptId IS NULL OR l.generation IS NULL OR a.status <> l.status
                """
            )[0].decode(Int.self)
        }
    }

    func expectConsistent(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        #expect(try await rollupMismatches() == 0, "rollups differ from a recount", sourceLocation: sourceLocation)
        #expect(try await doubled == 0, "an id has two rows", sourceLocation: sourceLocation)
        #expect(try await strays == 0, "ledger and rows differ", sourceLocation: sourceLocation)
    }
}
