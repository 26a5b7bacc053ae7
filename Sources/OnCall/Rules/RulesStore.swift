import AlertRules
package import Alerting
import Attempts
import Foundation
package import Postgres
import PushContract

/// Reads what the page of rules shows, and keeps what people thought of an alert.
package struct RulesStore: Sendable {
    static let days = Int64(BacktestKeeper.days)

    private let pool: PostgresPool
    private let rules: RuleBook
    private let receivers: ReceiverBook?
    private let backtests: BacktestShelf

    /// - Parameters:
    ///   - receivers: asked for what is wrong with their file.
    ///   - backtests: filled by `BacktestKeeper`.
    package init(pool: PostgresPool, rules: RuleBook, receivers: ReceiverBook? = nil, backtests: BacktestShelf = BacktestShelf()) {
        self.pool = pool
        self.rules = rules
        self.receivers = receivers
        self.backtests = backtests
    }

    func read(now: Timestamp) async throws -> RulesData {
        // An instance that evaluates nothing looks at the files here.
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
                    distance: try await distance(rule, now: now)
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
    func distances(now: Timestamp) async throws -> [(name: String, distance: RuleDistance?)] {
        var distances: [(name: String, distance: RuleDistance?)] = []
        for rule in rules.rules { distances.append((rule.name, try await distance(rule, now: now))) }
        return distances
    }

    /// False when there is no such alert.
    func mark(_ id: UUID, verdict: String, by author: String, at now: Timestamp) async throws -> Bool {
        try await pool.execute(
            """
            INSERT INTO alertMarks (episodeId, verdict, author, markedAt)
            SELECT episodeId, \(verdict), \(author), \(now) FROM alertEpisodes WHERE episodeId = \(id)
            ON CONFLICT (episodeId) DO UPDATE SET verdict = excluded.verdict, author = excluded.author, markedAt = excluded.markedAt
            """
        ) == 1
    }

    /// What somebody thought of an alert, and who: `real`, by maria.
    func verdict(of id: UUID) async throws -> (verdict: String, author: String)? {
        try await pool.query("SELECT verdict, author FROM alertMarks WHERE episodeId = \(id)").first.map { row in
            let (verdict, author) = try row.decode((String, String).self)
            return (verdict, author)
        }
    }

    private func past(now: Timestamp) async throws -> [RulesData.Past] {
        try await pool.query(
            """
            SELECT episode.episodeId::text, rule, groupKey, firedAt, resolvedAt, verdict
            FROM alertEpisodes AS episode LEFT JOIN alertMarks USING (episodeId)
            WHERE firedAt >= \(now - .seconds(Self.days * 86_400)) OR state = 'firing'
            ORDER BY firedAt DESC, episode.episodeId LIMIT 1000
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

    private func distance(_ rule: AlertRule, now: Timestamp) async throws -> RuleDistance? {
        guard case .ratio(let ratio) = rule.condition else { return nil }
        let dimensions = rule.by.compactMap { RollupDimension(rawValue: $0.rawValue) }
        guard dimensions.count == rule.by.count else { return nil }
        let to = now.flooredToMinute()
        let counts = try await RollupStore.minutes(
            AlertSeries.selection(rule, group: GroupKey([:])),
            by: dimensions,
            from: to - .seconds(Int64(ratio.duration.minutes) * 60),
            to: to,
            on: pool
        )
        let groups = Dictionary(grouping: counts, by: \.values).map { values, counts in
            (
                group: values.isEmpty ? "all" : zip(rule.by, values).map { "\($0.rawValue)=\($1)" }.joined(separator: ", "),
                bad: counts.reduce(0) { $0 + $1.bad },
                attempts: counts.reduce(0) { $0 + $1.attempts }
            )
        }
        return RuleDistance.worst(groups, threshold: ratio.above.double)
    }
}
