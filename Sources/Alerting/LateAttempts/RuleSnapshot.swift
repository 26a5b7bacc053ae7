import AlertRules
import Postgres
import PushContract

/// A rule's checkpoint as it was at the end of an earlier hour: minutes after it can be evaluated again.
enum RuleSnapshot {
    private struct Entry: Codable {
        var labels: [String: String]
        var state: AlertState
    }

    /// The newest snapshot before `minute`; nil when there is none.
    static func read(_ rule: AlertRule, before minute: Minute, on session: any PostgresSession) async throws -> RuleCheckpoint? {
        let rows = try await session.query(
            """
            SELECT asOf, states FROM alertSnapshots
            WHERE rule = \(rule.name) AND ruleVersion = \(rule.version) AND asOf < \(minute.timestamp) ORDER BY asOf DESC LIMIT 1
            """
        )
        guard let (asOf, text) = try rows.first?.decode((Timestamp, String).self) else { return nil }
        let entries: [Entry] = try AlertJSON.value(from: text)
        var states: [GroupKey: AlertState] = [:]
        for entry in entries { states[GroupKey(labels: entry.labels)] = entry.state }
        return RuleCheckpoint(asOf: Minute(asOf), replacesVersion: false, states: states)
    }

    /// Deletes the snapshots since a minute: they do not contain its late attempts.
    static func forget(_ rule: AlertRule, since minute: Minute, in transaction: any PostgresSession) async throws {
        try await transaction.execute("DELETE FROM alertSnapshots WHERE rule = \(rule.name) AND asOf >= \(minute.timestamp)")
    }

    /// Keeps one for each hour of the horizon.
    static func write(
        _ rule: AlertRule,
        states: [GroupKey: AlertState],
        asOf: Minute,
        in transaction: any PostgresSession
    ) async throws {
        let entries = states.sorted { $0.key < $1.key }.map { Entry(labels: $0.key.labels, state: $0.value) }
        let hour = Minute(asOf.index / 60 * 60)
        let isWritten = try await transaction.execute(
            """
            INSERT INTO alertSnapshots (rule, ruleVersion, asOf, states)
            SELECT \(rule.name), \(rule.version), \(asOf.timestamp), \(try AlertJSON.text(entries))
            WHERE NOT EXISTS (SELECT FROM alertSnapshots
                              WHERE rule = \(rule.name) AND ruleVersion = \(rule.version) AND asOf >= \(hour.timestamp))
            """
        )
        guard isWritten > 0 else { return }
        // The first minutes of the horizon need one from before it.
        let oldest = asOf - (LateAttemptStore.horizon + 120)
        try await transaction.execute(
            """
            DELETE FROM alertSnapshots WHERE rule = \(rule.name) AND (asOf < \(oldest.timestamp) OR ruleVersion <> \(rule.version))
            """
        )
    }
}
