import AlertRules
import Foundation
import Postgres
import PushContract

/// What is stored about a rule between two evaluations.
struct RuleCheckpoint: Sendable {
    /// The newest minute that was evaluated; nil when this version of the rule never was.
    var asOf: Minute?
    /// Another version of the rule was in force before.
    var replacesVersion: Bool
    /// Each group's latch, as of a minute from which the newest minutes are folded anew.
    var states: [GroupKey: AlertState]

    static func read(_ rule: AlertRule, on session: any PostgresSession) async throws -> RuleCheckpoint {
        let progress = try await session.query("SELECT ruleVersion, asOf FROM alertRuleProgress WHERE rule = \(rule.name)").first
        guard let (version, asOf) = try progress?.decode((String, Timestamp).self), version == rule.version else {
            return RuleCheckpoint(asOf: nil, replacesVersion: progress != nil, states: [:])
        }
        let rows = try await session.query(
            "SELECT groupLabels, state FROM alertCheckpoints WHERE rule = \(rule.name) AND ruleVersion = \(rule.version)"
        )
        var states: [GroupKey: AlertState] = [:]
        for row in rows {
            let (labels, state) = try row.decode((String, String).self)
            states[try GroupKey(labels: labels)] = try AlertJSON.value(from: state)
        }
        return RuleCheckpoint(asOf: Minute(asOf), replacesVersion: false, states: states)
    }

    /// Stores the states of a version as its only ones, and how far it has come.
    static func write(
        _ rule: AlertRule,
        states: [GroupKey: AlertState],
        asOf: Minute,
        at now: Timestamp,
        in transaction: any PostgresSession
    ) async throws {
        let ordered = states.sorted { $0.key < $1.key }
        let keys = ordered.map(\.key.description)
        try await transaction.execute(
            """
            DELETE FROM alertCheckpoints
            WHERE rule = \(rule.name) AND NOT (ruleVersion = \(rule.version) AND groupKey = ANY(\(keys)))
            """
        )
        try await transaction.execute(
            """
            INSERT INTO alertCheckpoints (rule, ruleVersion, groupKey, groupLabels, asOf, state)
            SELECT \(rule.name)::text, \(rule.version)::text, groupKey, labels::jsonb, asOf, state::jsonb
            FROM unnest(
                \(keys), \(try ordered.map { try AlertJSON.text($0.key.labels) }),
                \(ordered.map { ($0.value.asOf ?? asOf).timestamp }), \(try ordered.map { try AlertJSON.text($0.value) })
            ) AS c (groupKey, labels, asOf, state)
            ON CONFLICT (rule, ruleVersion, groupKey) DO UPDATE SET asOf = excluded.asOf, state = excluded.state
            """
        )
        try await transaction.execute(
            """
            INSERT INTO alertRuleProgress (rule, ruleVersion, asOf, evaluatedAt)
            VALUES (\(rule.name), \(rule.version), \(asOf.timestamp), \(now))
            ON CONFLICT (rule) DO UPDATE
            SET ruleVersion = excluded.ruleVersion, asOf = excluded.asOf, evaluatedAt = excluded.evaluatedAt
            """
        )
    }

    /// Rules that were evaluated once and are in no file any more.
    static func removedRules(_ names: [String], on session: any PostgresSession) async throws -> [String] {
        try await session.query("SELECT rule FROM alertRuleProgress WHERE NOT rule = ANY(\(names)) ORDER BY rule")
            .map { try $0.decode(String.self) }
    }

    static func forget(_ rule: String, in transaction: any PostgresSession) async throws {
        for table in ["alertCheckpoints", "alertSnapshots", "alertBaselineDays", "alertRuleProgress"] {
            try await transaction.execute("DELETE FROM \(raw: table) WHERE rule = \(rule)")
        }
    }
}
