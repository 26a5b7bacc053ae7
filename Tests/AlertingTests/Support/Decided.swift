import AlertRules
import Alerting
import Postgres
import PushContract
import ServiceKit
import TestDatabase

/// What was decided, live or in a backtest, with all its numbers.
struct Decided: Hashable, Comparable, CustomStringConvertible {
    var rule: String
    var group: String
    var kind: String
    var reason: String
    var minute: Int
    var evidence: Evidence

    var description: String { "\(rule) \(group) \(kind) (\(reason)) @\(minute) \(evidence)" }

    static func < (a: Decided, b: Decided) -> Bool { (a.rule, a.group, a.minute, a.kind) < (b.rule, b.group, b.minute, b.kind) }

    /// Fires, whether it is called a new alert or an earlier one that goes on.
    var withoutReopening: Decided {
        var decided = self
        if kind == "reopened" { decided.kind = "firing" }
        return decided
    }

    static func live(_ pool: PostgresPool) async throws -> [Decided] {
        try await pool.query(
            """
            SELECT e.rule, e.groupKey, t.kind, t.reason, t.minute, t.evidence
            FROM alertTransitions t JOIN alerts e USING (alertId)
            """
        ).map {
            let (rule, group, kind, reason, minute, evidence) = try $0.decode((String, String, String, String, Timestamp, String).self)
            return Decided(
                rule: rule,
                group: group,
                kind: kind,
                reason: reason,
                minute: Minute(minute) - Traffic.start,
                evidence: try JSONParser.evidence(evidence)
            )
        }.sorted()
    }

    static func backtest(_ results: [RuleBacktest.Result]) throws -> [Decided] {
        try results.flatMap(\.alerts).flatMap { [$0.fired] + $0.interruptions + [$0.resolved].compactMap { $0 } }.map {
            Decided(
                rule: $0.rule,
                group: $0.group.description,
                kind: $0.kind == .fired ? "firing" : $0.kind.rawValue,
                reason: $0.reason.rawValue,
                minute: $0.minute - Traffic.start,
                evidence: try JSONParser.evidence(JSONParser.text($0.evidence))
            )
        }.sorted()
    }
}
