import AlertRules
package import Foundation
package import Postgres
import PushContract

/// Reads alerts for the page, the routes and the evaluator.
package enum AlertStore {
    /// All that are firing, the most severe first, then the oldest.
    package static func open(on session: any PostgresSession) async throws -> [Alert] {
        try await read(
            """
            WHERE state = 'firing'
            ORDER BY array_position(ARRAY['critical', 'page', 'ticket', 'info'], severity), firedAt, alertId
            """,
            session
        )
    }

    /// Those that are over, the one that fired last first.
    package static func resolved(limit: Int, on session: any PostgresSession) async throws -> [Alert] {
        try await read("WHERE state = 'resolved' ORDER BY firedAt DESC, alertId LIMIT \(limit)", session)
    }

    /// Those that are over, the one that ended last first.
    package static func lastResolved(limit: Int, on session: any PostgresSession) async throws -> [Alert] {
        try await read("WHERE state = 'resolved' ORDER BY resolvedAt DESC, alertId LIMIT \(limit)", session)
    }

    package static func alert(_ id: UUID, on session: any PostgresSession) async throws -> Alert? {
        try await read("WHERE alertId = \(id)", session).first
    }

    /// Those whose id begins with `prefix`, the newest first; at most two, which is enough to know that there is more than one.
    package static func find(prefix: String, on session: any PostgresSession) async throws -> [Alert] {
        guard !prefix.isEmpty else { return [] }
        return try await read("WHERE starts_with(alertId::text, \(prefix.lowercased())) ORDER BY firedAt DESC LIMIT 2", session)
    }

    static func open(rule: String, on session: any PostgresSession) async throws -> [Alert] {
        try await read("WHERE state = 'firing' AND rule = \(rule) ORDER BY groupKey", session)
    }

    /// Pages that fire, are neither muted nor acknowledged, and of which none of `people` is notified. Locked until the transaction ends.
    static func unnotifiedPages(people: [String], in transaction: any PostgresSession) async throws -> [Alert] {
        try await read(
            """
            WHERE state = 'firing' AND severity IN ('critical', 'page') AND acknowledgedAt IS NULL AND silencedBy IS NULL
              AND suppressedBy IS NULL AND rule <> \(TestNotification.rule)
              AND NOT EXISTS (SELECT FROM notifications o WHERE o.alertId = alerts.alertId AND o.kind IN ('firing', 'reopened')
                                AND o.state IN ('pending', 'delivered') AND o.receiver = ANY(\(people)))
            ORDER BY firedAt, alertId FOR UPDATE
            """,
            transaction
        )
    }

    /// The alert of each group that ended last.
    static func newestResolved(rule: String, groups: [GroupKey], on session: any PostgresSession) async throws -> [Alert] {
        try await read(
            """
            WHERE alertId IN (
                SELECT DISTINCT ON (groupKey) alertId FROM alerts
                WHERE state = 'resolved' AND rule = \(rule) AND groupKey = ANY(\(groups.map(\.description)))
                ORDER BY groupKey, resolvedAt DESC
            )
            """,
            session
        )
    }

    /// How many are firing, by severity.
    static func openCounts(on session: any PostgresSession) async throws -> [Severity: Int] {
        let rows = try await session.query("SELECT severity, count(*) FROM alerts WHERE state = 'firing' GROUP BY 1")
        return try rows.reduce(into: [:]) { counts, row in
            let (severity, count) = try row.decode((String, Int).self)
            if let severity = Severity(rawValue: severity) { counts[severity] = count }
        }
    }

    /// Queues a notification other than firing and resolved for the receivers that were notified that it fires.
    static func notify(
        _ id: UUID,
        _ event: AlertNotification.Event,
        receivers: [String]?,
        at now: Timestamp,
        in transaction: any PostgresSession
    ) async throws {
        let seq = try await nextSeq(id, in: transaction)
        try await transaction.execute(
            """
            INSERT INTO alertTransitions (alertId, seq, kind, reason, minute, evidence, annotations, epoch, recordedAt)
            SELECT alertId, \(seq), \(event.rawValue), \(event.rawValue), \(now.flooredToMinute()), evidence, annotations, 0, \(now)
            FROM alerts WHERE alertId = \(id)
            """
        )
        try await transaction.execute(
            """
            INSERT INTO notifications (alertId, receiver, seq, kind, state, nextAttemptAt, createdAt)
            SELECT DISTINCT alertId, receiver, \(seq), \(event.rawValue), 'pending', \(now), \(now)
            FROM notifications WHERE alertId = \(id) AND kind IN ('firing', 'reopened') AND state IN ('pending', 'delivered')
              AND (\(receivers == nil) OR receiver = ANY(\(receivers ?? [])))
            """
        )
    }

    /// The number of the next message; the alert's row must be locked.
    static func nextSeq(_ id: UUID, in transaction: any PostgresSession) async throws -> Int32 {
        try await transaction.query("SELECT coalesce(max(seq), 0) + 1 FROM alertTransitions WHERE alertId = \(id)")[0].decode(Int32.self)
    }

    private static func read(_ condition: Query, _ session: any PostgresSession) async throws -> [Alert] {
        try await session.query(
            """
            SELECT alertId, rule, ruleVersion, groupLabels, labels, severity, state, startsAt, firedAt, endsAt, resolvedAt,
                   resolvedReason, detectedLateBySeconds, evidence, contributors, backlog, reproduceSql, annotations,
                   acknowledgedAt, acknowledgedBy, silencedBy, revised, noDataSince, affected, suppressedBy, impact
            FROM alerts \(condition)
            """
        ).map(Alert.init(row:))
    }
}

extension Alert {
    fileprivate init(row: Row) throws {
        let (
            id, rule, version, group, labels, severity, state, startsAt, firedAt, endsAt, resolvedAt,
            reason, late, evidence, contributors, backlog, sql, annotations,
            acknowledgedAt, acknowledgedBy, silencedBy, revised, noDataSince, affected, suppressedBy, impact
        ) = try row.decode(
            (
                UUID, String, String, String, String, String, String, Timestamp, Timestamp, Timestamp?, Timestamp?, String?, Int64, String,
                String, String?, String, String, Timestamp?, String?, UUID?, Bool, Timestamp?, String?, String?, String?
            ).self
        )
        self.init(
            id: id,
            rule: rule,
            ruleVersion: version,
            group: try GroupKey(labels: group),
            labels: try AlertJSON.value(from: labels),
            severity: Severity(rawValue: severity) ?? .page,
            state: State(rawValue: state) ?? .firing,
            startsAt: startsAt,
            firedAt: firedAt,
            endsAt: endsAt,
            resolvedAt: resolvedAt,
            resolvedReason: reason,
            detectedLateBySeconds: late,
            evidence: try AlertJSON.value(from: evidence),
            contributors: try AlertJSON.value(from: contributors),
            backlog: try backlog.map { try AlertJSON.value(from: $0) },
            reproduceSQL: sql,
            annotations: try AlertJSON.value(from: annotations),
            acknowledgedAt: acknowledgedAt,
            acknowledgedBy: acknowledgedBy,
            silencedBy: silencedBy,
            suppressedBy: try suppressedBy.map { try AlertJSON.value(from: $0) },
            revised: revised,
            noDataSince: noDataSince,
            affected: try affected.map { try AlertJSON.value(from: $0) },
            impact: try impact.map { try AlertJSON.value(from: $0) }
        )
    }
}

extension GroupKey {
    init(labels plain: [String: String]) {
        self.init(
            Dictionary(
                plain.compactMap { name, value in Dimension(rawValue: name).map { ($0, value) } },
                uniquingKeysWith: { first, _ in first }
            )
        )
    }

    /// A plain object of names and values, as analysts and receivers read it.
    var labels: [String: String] {
        Dictionary(values.map { ($0.key.rawValue, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    init(labels json: String) throws {
        self.init(labels: try AlertJSON.value(from: json) as [String: String])
    }
}
