import AlertRules
import Postgres
import PushContract

/// Keeps `deviceReregistrationHours`: of the devices whose token was no longer registered in an hour, how many registered within a day.
///
/// The hour's attempts are sampled in slices, so the cost does not grow with them; each sampled device is looked up by its person.
struct ReregistrationSeries {
    static let name = "reregistrations"
    /// How long a device has, in minutes.
    static let reregistrationWindow = 1440
    /// From the beginning of an hour to the minute in which its cohort is known, late rows included.
    static let known = 60 + reregistrationWindow + 10
    /// Hours that one pass does, so that a catch-up does not hold up evaluation.
    private static let maxHours = 2
    private static let slices = 20
    private static let maxPerSlice = 2000
    private static let maxDevices = 500
    private static let retention = Duration.seconds(60 * 86_400)

    let lease: AlertLease
    let pool: PostgresPool

    func fill(through last: Minute) async throws {
        let newest = Minute((last - (Self.known - 1)).index / 60 * 60)
        let asOf = try await SeriesProgress.read(Self.name, on: pool)
        var hour = max(asOf.map { $0 + 60 } ?? newest - 7 * 1440, newest - 28 * 1440)
        for _ in 0..<Self.maxHours where hour <= newest {
            try await fill(hour)
            hour = hour + 60
        }
    }

    private func fill(_ hour: Minute) async throws {
        let (from, to) = (hour.timestamp, (hour + 60).timestamp)
        let isSeen = try await pool.query(
            """
            SELECT EXISTS (SELECT FROM attemptRollups WHERE minute >= \(from) AND minute < \(to)
                             AND reasonCode = 'token_not_registered' AND eventType = 'send')
            """
        )[0].decode(Bool.self)
        try await pool.withTransaction { transaction in
            try await AlertLeaseStore.fence(lease, in: transaction)
            if isSeen { try await count(from, to, in: transaction) }
            try await transaction.execute("DELETE FROM deviceReregistrationHours WHERE hour < \(from - Self.retention)")
            try await SeriesProgress.write(Self.name, asOf: hour, in: transaction)
        }
    }

    /// A device is the person and the app: a new token has another hash.
    private func count(_ from: Timestamp, _ to: Timestamp, in transaction: any PostgresSession) async throws {
        try await transaction.execute("SET LOCAL statement_timeout = '5s'")
        try await transaction.execute(
            """
            WITH gone AS (
                SELECT DISTINCT ON (a.provider, a.uid, a.tokenHash) a.provider, coalesce(a.app, '') AS app, a.uid, a.tokenHash, a.attemptedAt
                FROM generate_series(0, \(Int32(Self.slices - 1))) AS i
                CROSS JOIN LATERAL (
                    SELECT provider, app, uid, tokenHash, attemptedAt, reasonCode, eventType FROM notificationDeliveryAttempts
                    WHERE attemptedAt >= \(from) + i * (\(to)::timestamptz - \(from)) / \(Int32(Self.slices))
                      AND attemptedAt < \(from) + (i + 1) * (\(to)::timestamptz - \(from)) / \(Int32(Self.slices))
                    ORDER BY attemptedAt LIMIT \(Self.maxPerSlice)
                ) a
                WHERE a.reasonCode = 'token_not_registered' AND a.eventType = 'send'
                ORDER BY a.provider, a.uid, a.tokenHash, a.attemptedAt
            ), followed AS (
                -- In the order of a digest: as good as random, and reproducible.
                SELECT * FROM gone ORDER BY tokenHash LIMIT \(Self.maxDevices)
            )
            INSERT INTO deviceReregistrationHours (hour, provider, app, devices, reregistered)
            SELECT \(from), provider, app, count(*), count(*) FILTER (WHERE EXISTS (
                SELECT FROM notificationDeliveryAttempts r
                WHERE r.uid = followed.uid AND r.attemptedAt > followed.attemptedAt
                  AND r.attemptedAt < followed.attemptedAt + make_interval(mins => \(Int32(Self.reregistrationWindow)))
                  AND r.eventType = 'register' AND r.status = 'sent' AND r.provider = followed.provider
                  AND coalesce(r.app, '') = followed.app
            ))
            FROM followed GROUP BY provider, app
            ON CONFLICT DO NOTHING
            """
        )
    }
}
