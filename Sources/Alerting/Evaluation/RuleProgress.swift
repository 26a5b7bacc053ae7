package import AlertRules
package import Postgres
package import PushContract

/// How far a rule has been evaluated: what the page shows to prove that somebody watches.
package struct RuleProgress: Sendable, Hashable {
    package var rule: String
    package var ruleVersion: String
    /// The newest minute that was looked at.
    package var asOf: Minute
    package var evaluatedAt: Timestamp

    package static func all(on session: any PostgresSession) async throws -> [RuleProgress] {
        try await session.query("SELECT rule, ruleVersion, asOf, evaluatedAt FROM alertRuleProgress ORDER BY rule").map {
            let (rule, version, asOf, evaluatedAt) = try $0.decode((String, String, Timestamp, Timestamp).self)
            return RuleProgress(rule: rule, ruleVersion: version, asOf: Minute(asOf), evaluatedAt: evaluatedAt)
        }
    }
}
