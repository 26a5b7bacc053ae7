package import AlertRules
package import Postgres
package import PushContract

/// How far a rule has been evaluated, for pages and metrics.
package struct RuleProgress: Sendable, Hashable {
    package var rule: String
    package var ruleVersion: String
    /// The newest minute that was evaluated.
    package var asOf: Minute
    package var evaluatedAt: Timestamp

    package static func all(on session: any PostgresSession) async throws -> [RuleProgress] {
        try await session.query("SELECT rule, ruleVersion, asOf, evaluatedAt FROM alertRuleProgress ORDER BY rule").map {
            let (rule, version, asOf, evaluatedAt) = try $0.decode((String, String, Timestamp, Timestamp).self)
            return RuleProgress(rule: rule, ruleVersion: version, asOf: Minute(asOf), evaluatedAt: evaluatedAt)
        }
    }

    /// The newest minute that needs no evaluation yet: a rule that decides every few minutes is not behind until its next decision is due.
    func covered(by rule: AlertRule) -> Minute { asOf + (rule.condition.decidesEvery - 1) }

    /// The end of the last minute, up to `last`, that all of `progress` has covered; nil when nothing was evaluated.
    package static func through(_ progress: [RuleProgress], rules: [AlertRule], last: Minute) -> Timestamp? {
        let byName = Dictionary(rules.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let covered = progress.compactMap { row in byName[row.rule].map { row.covered(by: $0) } }
        return covered.min().map { min($0, last) + 1 }?.timestamp
    }
}
