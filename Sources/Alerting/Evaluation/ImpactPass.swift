import AlertRules
import Attempts
import Logging
import Postgres
import PushContract

/// Looks again, every few minutes, at who is affected by the alerts that fire: contributors, devices without a success, backlog.
///
/// Runs after all rules are evaluated, so that no alert waits for it, and looks at a few alerts a time: those it has not looked at for longest.
struct ImpactPass {
    static let every = Duration.seconds(300)
    /// Alerts in one pass. Each takes two bounded samples at most.
    static let most = 4

    let rules: [AlertRule]
    let pool: PostgresPool
    let lease: AlertLease
    let backlog: BacklogReading?
    let logger: Logger
    let now: Timestamp

    /// `last`: the newest evaluated minute. Returns how many alerts were looked at.
    @discardableResult
    func run(through last: Minute) async throws -> Int {
        let byName = Dictionary(rules.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let due = try await EpisodeStore.open(on: pool)
            .filter { byName[$0.rule] != nil && now - $0.lookedAt >= Self.every }
            .sorted { $0.lookedAt < $1.lookedAt }
            .prefix(Self.most)
        for episode in due {
            guard let rule = byName[episode.rule] else { continue }
            let impact = try await look(rule, episode, through: last)
            try await pool.withTransaction { transaction in
                try await AlertLeaseStore.fence(lease, in: transaction)
                try await transaction.execute(
                    """
                    UPDATE alertEpisodes SET impact = \(try AlertJSON.text(impact)), updatedAt = \(now)
                    WHERE episodeId = \(episode.id) AND state = 'firing'
                    """
                )
            }
        }
        return due.count
    }

    private func look(_ rule: AlertRule, _ episode: AlertEpisode, through last: Minute) async throws -> EpisodeImpact {
        let evidence = episode.evidence
        let length = max(1, evidence.observed.minutes)
        var present = try await look(rule, episode.group, first: last - (length - 1), minutes: length)
        present.backlog = try await backlog?(now)
        guard evidence.worst != evidence.observed, rule.condition.source == .attempts else { return EpisodeImpact(now: present) }
        let known = episode.impact?.worst
        if let known, known.window == evidence.worst { return EpisodeImpact(worst: known, now: present) }
        var worst = try await look(rule, episode.group, first: evidence.worst.first, minutes: evidence.worst.minutes)
        worst.window = evidence.worst
        return EpisodeImpact(worst: worst, now: present)
    }

    private func look(_ rule: AlertRule, _ group: GroupKey, first: Minute, minutes: Int) async throws -> EpisodeImpact.Look {
        var window = WindowCounts(first: first, minutes: minutes, counts: AttemptCounts())
        guard rule.condition.source == .attempts else { return EpisodeImpact.Look(window: window, at: now) }
        let rows = try await RollupStore.minutes(
            rule.selection(in: group),
            by: [],
            from: first.timestamp,
            to: (first + minutes).timestamp,
            on: pool
        )
        window.counts = rows.reduce(AttemptCounts()) { $0 + AttemptCounts(attempts: $1.attempts, bad: $1.bad) }
        let impact = try await Impact.read(rule, group: group, window: window, logger: logger, on: pool)
        return EpisodeImpact.Look(window: window, at: now, contributors: impact.contributors, affected: impact.devices)
    }
}

extension AlertEpisode {
    /// When it was last looked at who is affected.
    fileprivate var lookedAt: Timestamp { impact?.now.at ?? firedAt }
}
