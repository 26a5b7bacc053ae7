import AlertRules
import Attempts
import Postgres
import PushContract

/// Keeps `providerCodeDays`: which codes without a reason were seen on which day.
///
/// Reads attempts with an unknown reason through their own index, a bounded number in each step, so that many of them do not delay
/// evaluation; then the first minute of a rare code may be recorded late.
struct CodeSeries {
    static let name = "codes"
    /// How far back a new installation reads, once.
    private static let firstLook = 14 * 1440
    private static let step = 1440
    private static let maxRows = 20_000
    /// Distinct codes of a provider on a day; a provider with more writes numbers into its codes.
    private static let maxCodes = 200
    private static let retention = 400

    let lease: AlertLease
    let recompute: Int
    let pool: PostgresPool

    /// Reads every minute up to `last` that was not read, and the newest once more for late rows.
    func fill(through last: Minute) async throws {
        let asOf = try await SeriesProgress.read(Self.name, on: pool)
        var first = asOf.map { max($0 + 1 - recompute, last - Self.firstLook) } ?? last - Self.firstLook
        while first <= last {
            let end = min(first + (Self.step - 1), last)
            try await fill(first, end)
            first = end + 1
        }
    }

    private func fill(_ first: Minute, _ last: Minute) async throws {
        try await pool.withTransaction { transaction in
            try await AlertLeaseStore.fence(lease, in: transaction)
            try await transaction.execute(
                """
                INSERT INTO providerCodeDays AS d (day, provider, code, firstAt, attempts)
                SELECT day, provider, code, firstAt, attempts FROM (
                    SELECT *, row_number() OVER (PARTITION BY day, provider ORDER BY firstAt, code) AS place
                    FROM (
                        SELECT DISTINCT ON (day, provider, code) (minute AT TIME ZONE 'UTC')::date AS day, provider, code,
                               minute AS firstAt, count(*) AS attempts
                        FROM (
                            SELECT date_trunc('minute', attemptedAt) AS minute, provider::text AS provider,
                                   CASE WHEN foldedLabels & 4 <> 0 THEN \(FoldedLabels.other) ELSE providerErrorCode END AS code
                            FROM notificationDeliveryAttempts
                            WHERE reasonCode = 'unknown' AND attemptedAt >= \(first.timestamp) AND attemptedAt < \((last + 1).timestamp)
                              AND eventType = 'send' AND status IN ('failed', 'deactivated') AND providerErrorCode <> ''
                            ORDER BY attemptedAt LIMIT \(Self.maxRows)
                        ) seen
                        GROUP BY 1, 2, 3, 4 ORDER BY day, provider, code, minute
                    ) firsts
                ) ranked
                WHERE place + (SELECT count(*) FROM providerCodeDays o WHERE o.day = ranked.day AND o.provider = ranked.provider)
                      <= \(Self.maxCodes)
                   OR EXISTS (SELECT 1 FROM providerCodeDays o
                              WHERE o.day = ranked.day AND o.provider = ranked.provider AND o.code = ranked.code)
                ON CONFLICT (day, provider, code) DO UPDATE SET firstAt = excluded.firstAt, attempts = excluded.attempts
                WHERE excluded.firstAt < d.firstAt
                """
            )
            try await transaction.execute("DELETE FROM providerCodeDays WHERE day < \(last.timestamp)::date - \(Int32(Self.retention))")
            try await SeriesProgress.write(Self.name, asOf: last, in: transaction)
        }
    }
}
