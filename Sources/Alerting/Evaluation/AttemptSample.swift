import AlertRules
import Attempts
import Foundation
import Postgres
import PushContract

/// A bounded look at the attempts of a window, for what the rollups do not hold: app version, the provider's own code, devices.
///
/// The window is cut into slices of equal length and the first attempts of each are read, so the cost does not follow the traffic. With
/// less traffic than that it is a full count. Reading costs nothing while nothing fires: one sample for each alert that begins.
struct AttemptSample: Sendable {
    static let slices = 20
    static let maxPerSlice = 2500
    /// Devices that are looked up for a success.
    static let maxDevices = 2000
    static let timeout = "2s"

    /// Values of `appVersion` and `providerErrorCode` with their counts in the sample.
    var shares: [(dimension: String, value: String, attempts: Int64, bad: Int64)]
    var attempts: Int64
    var bad: Int64
    /// Bad attempts' devices in the sample that had no success since the window began, of those that were looked up.
    var devices: Int64
    var areAllDevices: Bool

    static func read(
        _ rule: AlertRule,
        group: GroupKey,
        window: WindowCounts,
        on pool: PostgresPool
    ) async throws -> AttemptSample {
        let (from, to) = (window.first.timestamp, (window.last + 1).timestamp)
        return try await pool.withTransaction { transaction in
            try await transaction.execute("SET LOCAL statement_timeout = \(raw: "'\(timeout)'")")
            let sampled = Self.sampled(rule, group, from: from, to: to)
            var sample = AttemptSample(shares: [], attempts: 0, bad: 0, devices: 0, areAllDevices: true)
            for row in try await transaction.query(
                """
                WITH \(sampled)
                SELECT CASE WHEN GROUPING(appVersion) = 0 THEN 'appVersion' WHEN GROUPING(code) = 0 THEN 'providerErrorCode' ELSE '' END,
                       coalesce(CASE WHEN GROUPING(appVersion) = 0 THEN appVersion WHEN GROUPING(code) = 0 THEN code END, ''),
                       count(*), count(*) FILTER (WHERE isBad)
                FROM sampled GROUP BY GROUPING SETS ((), (appVersion), (code))
                """
            ) {
                let (dimension, value, attempts, bad) = try row.decode((String, String, Int64, Int64).self)
                if dimension.isEmpty {
                    (sample.attempts, sample.bad) = (attempts, bad)
                } else {
                    sample.shares.append((dimension, value, attempts, bad))
                }
            }
            let counted = try await transaction.query(
                """
                WITH \(sampled), hit AS (
                    SELECT DISTINCT uid, tokenHash FROM sampled WHERE isBad
                ), looked AS (
                    SELECT * FROM hit ORDER BY tokenHash LIMIT \(maxDevices)
                )
                SELECT count(*), (SELECT count(*) FROM hit) FROM looked
                WHERE NOT EXISTS (SELECT FROM notificationDeliveryAttempts s
                                  WHERE s.uid = looked.uid AND s.attemptedAt >= \(from) AND s.tokenHash = looked.tokenHash
                                    AND s.status = 'sent' AND s.eventType = 'send')
                """
            )[0]
            let (without, all) = try counted.decode((Int64, Int64?).self)
            sample.devices = without
            sample.areAllDevices = (all ?? 0) <= maxDevices
            return sample
        }
    }

    /// `sampled`: the attempts of the slices that the rule counts.
    static func sampled(_ rule: AlertRule, _ group: GroupKey, from: Timestamp, to: Timestamp, most: Int = maxPerSlice) -> Query {
        var conditions: Query = "true"
        for (dimension, values) in rule.selection(in: group).allowed.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            conditions = "\(conditions) AND coalesce(\(raw: dimension.rawValue)::text, '') = ANY(\(values))"
        }
        var bad: Query = "coalesce(reasonCode::text, '') = ANY(\(rule.condition.reasons))"
        if !rule.condition.statuses.isEmpty { bad = "\(bad) AND status::text = ANY(\(rule.condition.statuses))" }
        return """
            sampled AS (
                SELECT a.uid, a.tokenHash, a.attemptedAt, coalesce(a.reasonCode::text, '') AS reason, coalesce(a.appVersion, '') AS appVersion, coalesce(a.providerErrorCode, '') AS code,
                       (\(bad)) AS isBad
                FROM generate_series(0, \(Int32(slices - 1))) AS i
                CROSS JOIN LATERAL (
                    SELECT uid, tokenHash, attemptedAt, appVersion, providerErrorCode, reasonCode, status, provider, platform, environment, app, pushType,
                           eventType
                    FROM notificationDeliveryAttempts
                    WHERE attemptedAt >= \(from) + i * (\(to)::timestamptz - \(from)) / \(Int32(slices))
                      AND attemptedAt < \(from) + (i + 1) * (\(to)::timestamptz - \(from)) / \(Int32(slices))
                    ORDER BY attemptedAt LIMIT \(most)
                ) a
                WHERE status IN ('sent', 'failed', 'deactivated') AND \(conditions)
            )
            """
    }
}
