import AlertRules
package import Foundation
package import Postgres
import PushContract

/// The acceptances in PostgreSQL, for handlers and pages.
package enum AcceptanceStore {
    /// Records that an alert's level is normal from now on. Nil when it was accepted before: the first one stays.
    static func accept(
        _ alert: Alert,
        author: String,
        reason: String,
        at now: Timestamp,
        in transaction: PostgresTransaction
    ) async throws -> AcceptanceRecord? {
        let accepted = AcceptanceRecord(
            id: UUID(),
            alertId: alert.id,
            rule: alert.rule,
            group: alert.group,
            author: author,
            reason: reason,
            acceptedAt: now
        )
        let stored = try await transaction.execute(
            """
            INSERT INTO alertAcceptances (acceptanceId, alertId, rule, groupKey, groupLabels, author, reason, acceptedAt)
            VALUES (\(accepted.id), \(alert.id), \(alert.rule), \(alert.group.description),
                    \(try AlertJSON.text(alert.group.labels)), \(author), \(reason), \(now))
            ON CONFLICT (alertId) WHERE undoneAt IS NULL DO NOTHING
            """
        )
        return stored == 1 ? accepted : nil
    }

    /// Those that have not been undone, the newest first.
    package static func current(on session: any PostgresSession) async throws -> [AcceptanceRecord] {
        try await read("WHERE undoneAt IS NULL ORDER BY acceptedAt DESC, acceptanceId", on: session)
    }

    /// The one of an alert; nil when it was not accepted, or the acceptance was undone.
    package static func current(of alert: UUID, on session: any PostgresSession) async throws -> AcceptanceRecord? {
        try await read("WHERE alertId = \(alert) AND undoneAt IS NULL", on: session).first
    }

    package static func acceptance(_ id: UUID, on session: any PostgresSession) async throws -> AcceptanceRecord? {
        try await read("WHERE acceptanceId = \(id)", on: session).first
    }

    /// Undoes it: from the next minute on the past counts as it is. Nil when there is none, or it was undone before.
    ///
    /// Minutes that were evaluated are not evaluated again: they ended at least the lag of evaluation ago.
    static func undo(
        _ id: UUID,
        by name: String,
        at now: Timestamp,
        in transaction: PostgresTransaction
    ) async throws -> AcceptanceRecord? {
        let next = (Minute(now) + 1).timestamp
        let changed = try await transaction.execute(
            """
            UPDATE alertAcceptances
            SET undoneAt = \(now), undoneBy = \(name),
                effectiveTo = CASE WHEN effectiveFrom IS NOT NULL THEN greatest(\(next), effectiveFrom + interval '1 minute') END
            WHERE acceptanceId = \(id) AND undoneAt IS NULL
            """
        )
        return changed == 1 ? try await acceptance(id, on: transaction) : nil
    }

    /// The acceptances in force for each group of a rule, and former ones: a pass over the past needs both.
    static func effective(_ rule: AlertRule, on session: any PostgresSession) async throws -> [GroupKey: [BaselineAcceptance]] {
        let rows = try await session.query(
            """
            SELECT groupLabels, effectiveFrom, effectiveTo, level FROM alertAcceptances
            WHERE rule = \(rule.name) AND effectiveFrom IS NOT NULL ORDER BY effectiveFrom, acceptanceId
            """
        )
        var result: [GroupKey: [BaselineAcceptance]] = [:]
        for row in rows {
            let (labels, from, to, level) = try row.decode((String, Timestamp, Timestamp?, String).self)
            let group = try GroupKey(labels: labels)
            let accepted: AcceptedShares = try AlertJSON.value(from: level)
            guard Set(group.values.keys) == Set(rule.by), accepted.matches(rule) else { continue }
            result[group, default: []].append(
                BaselineAcceptance(from: Minute(from), to: to.map { Minute($0) }, shares: accepted.shares)
            )
        }
        return result
    }

    /// Those of a rule that the evaluator has not applied.
    static func waiting(_ rule: AlertRule, on session: any PostgresSession) async throws -> [AcceptanceRecord] {
        try await read(
            "WHERE rule = \(rule.name) AND effectiveFrom IS NULL AND undoneAt IS NULL ORDER BY acceptedAt, acceptanceId",
            on: session
        )
    }

    /// Stores its level: it is applied from now on. One that was undone meanwhile remains undone.
    static func apply(_ id: UUID, _ level: AcceptedShares, from: Minute, in transaction: any PostgresSession) async throws {
        try await transaction.execute(
            """
            UPDATE alertAcceptances SET effectiveFrom = \(from.timestamp), level = \(try AlertJSON.text(level))
            WHERE acceptanceId = \(id) AND effectiveFrom IS NULL AND undoneAt IS NULL
            """
        )
    }

    private static func read(_ condition: Query, on session: any PostgresSession) async throws -> [AcceptanceRecord] {
        try await session.query(
            """
            SELECT acceptanceId, alertId, rule, groupLabels, author, reason, acceptedAt, effectiveFrom, undoneAt, undoneBy
            FROM alertAcceptances \(condition)
            """
        ).map { row in
            let (id, alert, rule, group, author, reason, at, from, undoneAt, undoneBy) = try row.decode(
                (UUID, UUID, String, String, String, String, Timestamp, Timestamp?, Timestamp?, String?).self
            )
            return AcceptanceRecord(
                id: id,
                alertId: alert,
                rule: rule,
                group: try GroupKey(labels: group),
                author: author,
                reason: reason,
                acceptedAt: at,
                effectiveFrom: from,
                undoneAt: undoneAt,
                undoneBy: undoneBy
            )
        }
    }
}
