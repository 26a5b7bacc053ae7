package import AlertRules
import Attempts
package import Postgres
package import PushContract

/// Somebody whose push failed in the window of an alert: where "who is affected, and why" begins.
package struct AffectedPerson: Sendable, Hashable {
    package var uid: String
    package var at: Timestamp
    package var reason: String
    /// The provider's own code.
    package var code: String?
    package var appVersion: String?

    package init(uid: String, at: Timestamp, reason: String, code: String?, appVersion: String?) {
        self.uid = uid
        self.at = at
        self.reason = reason
        self.code = code
        self.appVersion = appVersion
    }

    /// Ten people at most, each with the newest failure of a bounded sample of the window. Nobody, when the attempts do not answer in time:
    /// an alert's page stays quick.
    package static func some(
        _ rule: AlertRule,
        group: GroupKey,
        window: WindowCounts,
        limit: Int = 10,
        on pool: PostgresPool
    ) async throws -> [AffectedPerson] {
        guard case .attempts = rule.condition.source else { return [] }
        let sampled = AttemptSample.sampled(rule, group, from: window.first.timestamp, to: (window.last + 1).timestamp, most: 250)
        do {
            return try await pool.withTransaction { transaction in
                try await transaction.execute("SET LOCAL statement_timeout = '500ms'")
                return try await transaction.query(
                    """
                    WITH \(sampled)
                    SELECT uid, attemptedAt, reason, nullif(code, ''), nullif(appVersion, '') FROM (
                        SELECT DISTINCT ON (uid) uid, attemptedAt, reason, code, appVersion FROM sampled WHERE isBad
                        ORDER BY uid, attemptedAt DESC
                    ) AS person ORDER BY attemptedAt DESC, uid LIMIT \(limit)
                    """
                ).map { row in
                    let values = try row.decode((String, Timestamp, String, String?, String?).self)
                    return AffectedPerson(uid: values.0, at: values.1, reason: values.2, code: values.3, appVersion: values.4)
                }
            }
        } catch let error as PostgresError where error.code.rawValue == "57014" {
            return []
        }
    }
}
