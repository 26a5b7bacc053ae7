import AlertRules
import Attempts
import Logging
import Postgres
import PushContract

/// Updates, every few minutes, the impact of the alerts that fire: contributors, devices without a success, backlog.
///
/// Runs after all rules are evaluated, so that no alert waits for it, and updates a few alerts at a time, the longest not updated first.
struct ImpactPass {
    static let every = Duration.seconds(300)
    /// Alerts in one pass. Each takes two bounded samples at most.
    static let most = 4

    let rules: [AlertRule]
    let pool: PostgresPool
    let lease: AlertLease
    let backlog: BacklogSource?
    let sampleTime: Duration
    let logger: Logger
    let now: Timestamp

    /// `last`: the newest evaluated minute. Returns how many alerts were updated.
    @discardableResult
    func run(through last: Minute) async throws -> Int {
        let byName = Dictionary(rules.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let due = try await AlertStore.open(on: pool)
            .filter { byName[$0.rule] != nil && now - $0.checkedAt >= Self.every }
            .sorted { $0.checkedAt < $1.checkedAt }
            .prefix(Self.most)
        for alert in due {
            guard let rule = byName[alert.rule] else { continue }
            let impact = try await read(rule, alert, through: last)
            try await pool.withTransaction { transaction in
                try await AlertLeaseStore.fence(lease, in: transaction)
                try await transaction.execute(
                    """
                    UPDATE alerts SET impact = \(try AlertJSON.text(impact)), updatedAt = \(now)
                    WHERE alertId = \(alert.id) AND state = 'firing'
                    """
                )
            }
        }
        return due.count
    }

    private func read(_ rule: AlertRule, _ alert: Alert, through last: Minute) async throws -> AlertImpact {
        let evidence = alert.evidence
        let length = max(1, evidence.observed.minutes)
        let usual = try await usual(rule, alert)
        var present = try await read(rule, alert.group, first: last - (length - 1), minutes: length, usual: usual)
        present.backlog = try await backlog?(now)
        guard evidence.worst != evidence.observed, rule.condition.hasBadAttempts else { return AlertImpact(now: present) }
        let known = alert.impact?.worst
        if let known, known.window == evidence.worst { return AlertImpact(worst: known, now: present) }
        var worst = try await read(
            rule,
            alert.group,
            first: evidence.worst.first,
            minutes: evidence.worst.minutes,
            usual: usual
        )
        worst.window = evidence.worst
        return AlertImpact(worst: worst, now: present)
    }

    /// The share of failures in the hour before it began: the hour before the present is part of the fault.
    private func usual(_ rule: AlertRule, _ alert: Alert) async throws -> Double? {
        guard rule.condition.hasBadAttempts else { return nil }
        let start = Minute(alert.startsAt)
        return try await counts(rule, alert.group, from: start - 60, to: start).share ?? 0
    }

    private func counts(_ rule: AlertRule, _ group: GroupKey, from: Minute, to: Minute) async throws -> AttemptCounts {
        let rows = try await RollupStore.minutes(
            rule.selection(in: group),
            by: [],
            from: from.timestamp,
            to: to.timestamp,
            on: pool
        )
        return rows.reduce(AttemptCounts()) { $0 + AttemptCounts(attempts: $1.attempts, bad: $1.bad) }
    }

    private func read(
        _ rule: AlertRule,
        _ group: GroupKey,
        first: Minute,
        minutes: Int,
        usual: Double?
    ) async throws -> AlertImpact.Snapshot {
        var window = WindowCounts(first: first, minutes: minutes, counts: AttemptCounts())
        guard rule.condition.hasBadAttempts else { return AlertImpact.Snapshot(window: window, at: now) }
        window.counts = try await counts(rule, group, from: first, to: first + minutes)
        let impact = try await Impact.read(rule, group: group, window: window, usual: usual, time: sampleTime, logger: logger, on: pool)
        return AlertImpact.Snapshot(window: window, at: now, contributors: impact.contributors, affected: impact.devices)
    }
}

extension Alert {
    /// When its impact was last read.
    fileprivate var checkedAt: Timestamp { impact?.now.at ?? firedAt }
}
