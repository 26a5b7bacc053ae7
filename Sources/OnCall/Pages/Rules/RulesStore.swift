import AlertRules
import Alerting
import Attempts
import Audit
import Foundation
import Postgres
import PushContract

/// Reads what the page of rules shows, and stores the marks of alerts.
struct RulesStore: Sendable {
    static let days = Int64(BacktestRefresher.days)

    private let pool: PostgresPool
    private let rules: RuleRegistry
    private let receivers: ReceiverRegistry?
    private let backtests: BacktestCache

    /// - Parameters:
    ///   - receivers: asked for what is wrong with their file.
    ///   - backtests: filled by `BacktestRefresher`.
    init(pool: PostgresPool, rules: RuleRegistry, receivers: ReceiverRegistry? = nil, backtests: BacktestCache = BacktestCache()) {
        self.pool = pool
        self.rules = rules
        self.receivers = receivers
        self.backtests = backtests
    }

    func read(now: Timestamp) async throws -> RulesData {
        // An instance that evaluates nothing reads the files here.
        rules.refresh()
        receivers?.refresh()
        let progress = Dictionary(try await RuleProgress.all(on: pool).map { ($0.rule, $0) }) { first, _ in first }
        let past = try await past(now: now)
        var entries: [RulesData.Entry] = []
        for rule in rules.rules {
            let own = past.filter { $0.rule == rule.name }
            entries.append(
                RulesData.Entry(
                    rule: rule,
                    progress: progress[rule.name],
                    firing: own.filter { $0.resolvedAt == nil }.count,
                    fired: own.count,
                    real: own.filter { $0.verdict == "real" }.count,
                    noise: own.filter { $0.verdict == "noise" }.count,
                    past: own,
                    backtest: backtests.entry(of: rule),
                    ruleStatus: try await ruleStatus(rule, now: now)
                )
            )
        }
        let faults = rules.findings.filter { $0.severity == .error }.map(\.description) + [receivers?.fault].compactMap { $0 }
        return RulesData(
            entries: entries,
            past: Array(past.prefix(50)),
            acceptances: try await AcceptanceStore.current(on: pool),
            faults: faults
        )
    }

    /// How near each rule is to firing.
    func ruleStatuses(now: Timestamp) async throws -> [(name: String, ruleStatus: WorstGroupStatus?)] {
        var ruleStatuses: [(name: String, ruleStatus: WorstGroupStatus?)] = []
        for rule in rules.rules { ruleStatuses.append((rule.name, try await ruleStatus(rule, now: now))) }
        return ruleStatuses
    }

    /// Marks an alert as real or noise, with an entry in the audit. False when there is no such alert.
    static func mark(_ id: UUID, verdict: String, recording audit: AuditRecorder, on pool: PostgresPool) async throws -> Bool {
        let author = audit.actor.name
        return try await pool.withTransaction { transaction in
            // Those who mark an alert take turns, the first ones too, so that each reads what it replaces.
            let alert = try await transaction.query("SELECT FROM alerts WHERE alertId = \(id) FOR NO KEY UPDATE")
            guard !alert.isEmpty else { return false }
            let earlier = try await self.verdict(of: id, on: transaction)
            try await transaction.execute(
                """
                INSERT INTO alertMarks (alertId, verdict, author, markedAt) VALUES (\(id), \(verdict), \(author), \(audit.now))
                ON CONFLICT (alertId) DO UPDATE SET verdict = excluded.verdict, author = excluded.author, markedAt = excluded.markedAt
                """
            )
            try await audit.note(
                .markAlert,
                id.uuidString.lowercased(),
                verdict,
                before: earlier.map { ["verdict": $0.verdict, "author": $0.author] },
                after: ["verdict": verdict, "author": author],
                on: transaction
            )
            return true
        }
    }

    /// The mark of an alert and who set it: `real`, by maria.
    static func verdict(of id: UUID, on session: any PostgresSession) async throws -> (verdict: String, author: String)? {
        try await session.query("SELECT verdict, author FROM alertMarks WHERE alertId = \(id)").first.map { row in
            let (verdict, author) = try row.decode((String, String).self)
            return (verdict, author)
        }
    }

    private func past(now: Timestamp) async throws -> [RulesData.Past] {
        try await pool.query(
            """
            SELECT alert.alertId::text, rule, groupKey, firedAt, resolvedAt, verdict
            FROM alerts AS alert LEFT JOIN alertMarks USING (alertId)
            WHERE firedAt >= \(now - .seconds(Self.days * 86_400)) OR state = 'firing'
            ORDER BY firedAt DESC, alert.alertId LIMIT 1000
            """
        ).map { row in
            let values = try row.decode((String, String, String, Timestamp, Timestamp?, String?).self)
            return RulesData.Past(
                id: values.0,
                rule: values.1,
                group: values.2,
                firedAt: values.3,
                resolvedAt: values.4,
                verdict: values.5
            )
        }
    }

    private func ruleStatus(_ rule: AlertRule, now: Timestamp) async throws -> WorstGroupStatus? {
        guard let ratio = rule.condition.ratio else { return nil }
        let dimensions = rule.by.compactMap { RollupDimension(rawValue: $0.rawValue) }
        guard dimensions.count == rule.by.count else { return nil }
        let last = Minute(now) - 1
        let counts = try await RollupStore.minutes(
            rule.selection(),
            by: dimensions,
            from: (last - (ratio.duration.minutes + ratio.smooth.minutes - 2)).timestamp,
            to: (last + 1).timestamp,
            on: pool
        )
        let groups = Dictionary(grouping: counts, by: \.values).map { values, counts in
            let group = values.isEmpty ? "all" : zip(rule.by, values).map { "\($0.rawValue)=\($1)" }.joined(separator: ", ")
            let series = MinuteSeries(counts.map { MinuteCounts(minute: Minute($0.period), attempts: $0.attempts, bad: $0.bad) })
            return WorstGroupStatus(series, through: last, group: group, of: ratio)
        }
        return WorstGroupStatus.worst(groups)
    }
}
