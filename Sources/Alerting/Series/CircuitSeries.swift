import AlertRules
import Postgres
package import PushContract

/// An open circuit, as `Delivery` reports it.
package struct CircuitSample: Sendable, Hashable {
    package var circuitId: Int64
    /// What the deliveries it blocks would fail with.
    package var reasonCode: ReasonCode
    package var provider: String
    package var app: String
    package var environment: String
    /// Empty: every platform.
    package var platform: String
    /// The provider's code.
    package var cause: String
    package var since: Timestamp
    /// Nil while it is refused.
    package var closedAt: Timestamp?
    /// Deliveries that wait for it.
    package var waiting: Int64

    package init(
        circuitId: Int64,
        reasonCode: ReasonCode = .auth,
        provider: String,
        app: String,
        environment: String,
        platform: String,
        cause: String,
        since: Timestamp,
        closedAt: Timestamp? = nil,
        waiting: Int64
    ) {
        self.circuitId = circuitId
        self.reasonCode = reasonCode
        self.provider = provider
        self.app = app
        self.environment = environment
        self.platform = platform
        self.cause = cause
        self.since = since
        self.closedAt = closedAt
        self.waiting = waiting
    }
}

/// The open circuits, and those that closed since the moment given.
package typealias CircuitSampling = @Sendable (_ since: Timestamp) async throws -> [CircuitSample]

/// Keeps `circuitMinutes`: what each open circuit blocked in each minute.
enum CircuitSeries {
    static let name = "circuits"
    /// How far back minutes without a sample are filled: the beginning of a circuit is stored.
    static let reach = Duration.seconds(14 * 86_400)
    private static let retention = Duration.seconds(35 * 86_400)

    /// Writes the minutes since each circuit's newest one, up to now or to its end. A minute that was written stays as it is; one that
    /// was not sampled gets what waits now, or after the end what waited at the last sample.
    static func add(_ samples: [CircuitSample], at now: Timestamp, on session: any PostgresSession) async throws {
        let minute = now.flooredToMinute()
        try await session.execute(
            """
            INSERT INTO circuitMinutes (circuitId, reasonCode, minute, provider, app, environment, platform, cause, since, waiting)
            SELECT h.circuitId, h.reasonCode::pushReason, m, h.provider, h.app, h.environment, h.platform, h.cause, h.since,
                   CASE WHEN h.isOver THEN known.waiting ELSE h.waiting END
            FROM unnest(
                \(samples.map(\.circuitId)), \(samples.map(\.reasonCode.rawValue)), \(samples.map(\.provider)), \(samples.map(\.app)),
                \(samples.map(\.environment)), \(samples.map(\.platform)), \(samples.map(\.cause)), \(samples.map(\.since)),
                \(samples.map { $0.closedAt ?? minute }), \(samples.map { $0.closedAt != nil }), \(samples.map(\.waiting))
            ) AS h (circuitId, reasonCode, provider, app, environment, platform, cause, since, until, isOver, waiting)
            LEFT JOIN LATERAL (
                SELECT k.minute, k.waiting FROM circuitMinutes k WHERE k.circuitId = h.circuitId ORDER BY k.minute DESC LIMIT 1
            ) known ON true
            CROSS JOIN LATERAL generate_series(
                greatest(
                    coalesce(known.minute + interval '1 minute', date_trunc('minute', h.since, 'UTC')),
                    \(minute - Self.reach)::timestamptz
                ),
                least(date_trunc('minute', h.until, 'UTC'), \(minute)::timestamptz),
                interval '1 minute'
            ) AS m
            WHERE NOT h.isOver OR known.waiting IS NOT NULL
            ON CONFLICT DO NOTHING
            """
        )
        try await session.execute("DELETE FROM circuitMinutes WHERE minute < \(now - retention)")
    }

    static func rows(from first: Minute, through last: Minute, on session: any PostgresSession) async throws -> [CircuitMinute] {
        try await session.query(
            """
            SELECT minute, provider, app, environment, platform, cause, since, waiting, reasonCode FROM circuitMinutes
            WHERE minute >= \(first.timestamp) AND minute <= \(last.timestamp)
            """
        ).map {
            let (minute, provider, app, environment, platform, cause, since, waiting, reason) = try $0.decode(
                (Timestamp, String, String, String, String, String, Timestamp, Int64, String).self
            )
            let credential = OpenCircuit(
                app: app,
                environment: environment,
                platform: platform,
                cause: cause,
                since: Minute(since),
                waiting: waiting,
                reason: reason == "auth" ? nil : reason
            )
            return CircuitMinute(provider: provider, minute: Minute(minute), credential: credential)
        }
    }

    /// Adds open circuits to the histories of a rule that considers them.
    static func add(
        to histories: [GroupHistory],
        of rule: AlertRule,
        from first: Minute,
        through last: Minute,
        on session: any PostgresSession
    ) async throws -> [GroupHistory] {
        guard let ratio = rule.condition.ratio, ratio.minBlocked != nil else { return histories }
        return GroupHistory.adding(try await rows(from: first, through: last, on: session), to: histories, of: rule)
    }
}
