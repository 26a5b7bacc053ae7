import Postgres
import PushContract

/// The guard's SQL.
enum GuardQueries {
    /// How a place stands.
    struct Standing {
        /// The breaker that is open.
        var open: Int64?
        /// Somebody has released one lately.
        var isQuiet: Bool
        var counts: DeactivationDecision.Counts
    }

    static func count(
        _ counts: [CredentialPlace: DeactivationDecision.Counts],
        slot: Int32,
        on connection: BlockingConnection,
        now: Timestamp
    ) throws {
        let rows = counts.sorted { $0.key.key < $1.key.key }
        try connection.execute(
            """
            INSERT INTO tokenOutcomes AS o (provider, app, environment, credential, minute, writerSlot, judged, ambiguous, gone)
            SELECT provider::pushProvider, app, environment::pushEnvironment, credential, date_trunc('minute', \(now)::timestamptz),
                \(slot)::integer, judged, ambiguous, gone
            FROM unnest(\(rows.map(\.key.provider.rawValue)), \(rows.map(\.key.app)), \(rows.map(\.key.environment.rawValue)),
                \(rows.map(\.key.credential)), \(rows.map(\.value.judged)), \(rows.map(\.value.ambiguous)), \(rows.map(\.value.gone)))
                AS t(provider, app, environment, credential, judged, ambiguous, gone)
            ON CONFLICT (provider, app, environment, credential, minute, writerSlot) DO UPDATE SET
                judged = o.judged + excluded.judged, ambiguous = o.ambiguous + excluded.ambiguous, gone = o.gone + excluded.gone
            """
        )
    }

    static func standings(
        _ places: [CredentialPlace],
        since: Timestamp,
        on connection: BlockingConnection,
        now: Timestamp
    ) throws -> [CredentialPlace: Standing] {
        let rows = try connection.query(
            """
            SELECT t.provider, t.app, t.environment, t.credential,
                (SELECT b.breakerId FROM tokenBreakers b WHERE b.closedAt IS NULL AND b.provider = t.provider::pushProvider
                    AND b.app = t.app AND b.environment = t.environment::pushEnvironment AND b.credential = t.credential),
                EXISTS (SELECT FROM tokenBreakers b WHERE b.quietUntil > \(now) AND b.provider = t.provider::pushProvider
                    AND b.app = t.app AND b.environment = t.environment::pushEnvironment AND b.credential = t.credential),
                coalesce(sum(o.judged), 0)::bigint, coalesce(sum(o.ambiguous), 0)::bigint, coalesce(sum(o.gone), 0)::bigint
            FROM unnest(\(places.map(\.provider.rawValue)), \(places.map(\.app)), \(places.map(\.environment.rawValue)),
                \(places.map(\.credential))) AS t(provider, app, environment, credential)
            LEFT JOIN tokenOutcomes o ON o.provider = t.provider::pushProvider AND o.app = t.app
                AND o.environment = t.environment::pushEnvironment AND o.credential = t.credential AND o.minute >= \(since)
            GROUP BY 1, 2, 3, 4
            """
        )
        var standings: [CredentialPlace: Standing] = [:]
        for row in rows {
            let values = try row.decode((String, String, String, String, Int64?, Bool, Int64, Int64, Int64).self)
            let place = CredentialPlace(
                provider: try stored(values.0),
                app: values.1,
                environment: try stored(values.2),
                credential: values.3
            )
            standings[place] = Standing(
                open: values.4,
                isQuiet: values.5,
                counts: .init(judged: values.6, ambiguous: values.7, gone: values.8)
            )
        }
        return standings
    }

    /// Opens a breaker, or finds the one that another transaction has just opened.
    static func open(
        _ place: CredentialPlace,
        counts: DeactivationDecision.Counts,
        cause: String,
        windowFrom: Timestamp,
        on connection: BlockingConnection,
        now: Timestamp
    ) throws -> Int64? {
        try connection.query(
            """
            INSERT INTO tokenBreakers AS b
                (provider, app, environment, credential, openedAt, windowFrom, judged, ambiguous, gone, cause)
            VALUES (\(place.provider.rawValue), \(place.app), \(place.environment.rawValue), \(place.credential), \(now), \(windowFrom),
                \(counts.judged), \(counts.ambiguous), \(counts.gone), \(cause))
            ON CONFLICT (provider, app, environment, credential) WHERE closedAt IS NULL DO UPDATE SET cause = b.cause
            RETURNING breakerId
            """
        ).first?.decode(Int64.self)
    }
}
