import Postgres
import PushContract

/// The SQL of the deactivation limiter.
enum LimiterQueries {
    /// The state of the limiter of one place.
    struct LimiterStatus {
        /// The limiter that is open.
        var open: Int64?
        /// Somebody has released one lately.
        var isInCooldown: Bool
        var counts: DeactivationDecision.Counts
    }

    static func count(
        _ counts: [CredentialScope: DeactivationDecision.Counts],
        slot: Int32,
        on connection: BlockingConnection,
        now: Timestamp
    ) throws {
        let rows = counts.sorted { $0.key.key < $1.key.key }
        try connection.executeLater(
            """
            INSERT INTO tokenOutcomes AS o (provider, app, environment, credential, minute, writerSlot, total, ambiguous, gone)
            SELECT provider::pushProvider, app, environment::pushEnvironment, credential, date_trunc('minute', \(now)::timestamptz),
                \(slot)::integer, total, ambiguous, gone
            FROM unnest(\(rows.map(\.key.provider.rawValue)), \(rows.map(\.key.app)), \(rows.map(\.key.environment.rawValue)),
                \(rows.map(\.key.credential)), \(rows.map(\.value.total)), \(rows.map(\.value.ambiguous)), \(rows.map(\.value.gone)))
                AS t(provider, app, environment, credential, total, ambiguous, gone)
            ON CONFLICT (provider, app, environment, credential, minute, writerSlot) DO UPDATE SET
                total = o.total + excluded.total, ambiguous = o.ambiguous + excluded.ambiguous, gone = o.gone + excluded.gone
            """
        )
    }

    static func statuses(
        _ scopes: [CredentialScope],
        since: Timestamp,
        on connection: BlockingConnection,
        now: Timestamp
    ) throws -> [CredentialScope: LimiterStatus] {
        let rows = try connection.query(
            """
            SELECT t.provider, t.app, t.environment, t.credential,
                (SELECT b.limiterId FROM deactivationLimiters b WHERE b.closedAt IS NULL AND b.provider = t.provider::pushProvider
                    AND b.app = t.app AND b.environment = t.environment::pushEnvironment AND b.credential = t.credential),
                EXISTS (SELECT FROM deactivationLimiters b WHERE b.cooldownUntil > \(now) AND b.provider = t.provider::pushProvider
                    AND b.app = t.app AND b.environment = t.environment::pushEnvironment AND b.credential = t.credential),
                coalesce(sum(o.total), 0)::bigint, coalesce(sum(o.ambiguous), 0)::bigint, coalesce(sum(o.gone), 0)::bigint
            FROM unnest(\(scopes.map(\.provider.rawValue)), \(scopes.map(\.app)), \(scopes.map(\.environment.rawValue)),
                \(scopes.map(\.credential))) AS t(provider, app, environment, credential)
            LEFT JOIN tokenOutcomes o ON o.provider = t.provider::pushProvider AND o.app = t.app
                AND o.environment = t.environment::pushEnvironment AND o.credential = t.credential AND o.minute >= \(since)
            GROUP BY 1, 2, 3, 4
            """
        )
        var statuses: [CredentialScope: LimiterStatus] = [:]
        for row in rows {
            let values = try row.decode((String, String, String, String, Int64?, Bool, Int64, Int64, Int64).self)
            let scope = CredentialScope(
                provider: try stored(values.0),
                app: values.1,
                environment: try stored(values.2),
                credential: values.3
            )
            statuses[scope] = LimiterStatus(
                open: values.4,
                isInCooldown: values.5,
                counts: .init(total: values.6, ambiguous: values.7, gone: values.8)
            )
        }
        return statuses
    }

    /// Opens a limiter, or finds the one that another transaction has just opened.
    static func open(
        _ scope: CredentialScope,
        counts: DeactivationDecision.Counts,
        cause: String,
        windowFrom: Timestamp,
        on connection: BlockingConnection,
        now: Timestamp
    ) throws -> Int64? {
        try connection.query(
            """
            INSERT INTO deactivationLimiters AS b
                (provider, app, environment, credential, openedAt, windowFrom, total, ambiguous, gone, cause)
            VALUES (\(scope.provider.rawValue), \(scope.app), \(scope.environment.rawValue), \(scope.credential), \(now), \(windowFrom),
                \(counts.total), \(counts.ambiguous), \(counts.gone), \(cause))
            ON CONFLICT (provider, app, environment, credential) WHERE closedAt IS NULL DO UPDATE SET cause = b.cause
            RETURNING limiterId
            """
        ).first?.decode(Int64.self)
    }
}
