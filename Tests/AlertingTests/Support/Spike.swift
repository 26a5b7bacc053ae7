import AlertRules
import Alerting
import Postgres
import PushContract
import TestDatabase

/// Traffic in which one of a hundred tokens is gone, for days before `Traffic.start`; from then on as many as `rises` say.
enum Spike {
    /// A baseline that has learned after a day.
    static let rule: AlertRule = {
        var condition = BaselineCondition(reasons: ["token_not_registered"], above: Fraction(3, 1), version: .one)
        condition.reference = RuleDuration(minutes: 3 * 1440)
        condition.longerWindows = []
        return Rules.make("TokenNotRegisteredSpike", .baseline(condition), by: [.provider])
    }()

    /// `rises`: from which minute on how many of a hundred fail.
    static func fill(_ pool: PostgresPool, _ rises: [(from: Int, bad: Int)], minutes: Int) async throws {
        _ = try await Traffic(pool, daysBack: 6)
        let levels = [(from: -6 * 1440, bad: 1)] + rises
        for (index, level) in levels.enumerated() {
            let end = index + 1 < levels.count ? levels[index + 1].from : minutes
            try await pool.execute(
                """
                INSERT INTO attemptRollups (minute, provider, platform, eventType, status, reasonCode, app, environment, pushType, writerSlot,
                                            attempts, latencyMsSum, latencyCount)
                SELECT m, 'fcm', 'android', 'send', s.status::pushStatus, s.reason, 'com.example.app', 'production', 'alert', 0,
                       CASE WHEN s.reason = '' THEN 100 - \(Int64(level.bad)) ELSE \(Int64(level.bad)) END, 0, 0
                FROM generate_series(\((Traffic.start + level.from).timestamp)::timestamptz, \((Traffic.start + end - 1).timestamp)::timestamptz,
                                     interval '1 minute') m
                CROSS JOIN (VALUES ('sent', ''), ('failed', 'token_not_registered')) AS s (status, reason)
                """
            )
        }
    }
}
