package import AlertRules
package import Postgres
import PushContract

/// Folds a rule's decisions over stored history: the same as live evaluation, minute by minute, would have come to.
///
/// Reads rollups, stored baseline days and exclusions; writes nothing. Its cost follows the length of the time and the number of
/// groups, not the number of attempts.
package struct RuleBacktest: Sendable {
    /// What came of one rule.
    package struct Result: Sendable, Hashable {
        package var rule: AlertRule
        package var episodes: [BacktestEpisode]
        /// Groups that had any traffic.
        package var groups: [GroupKey]

        package init(rule: AlertRule, episodes: [BacktestEpisode], groups: [GroupKey]) {
            self.rule = rule
            self.episodes = episodes
            self.groups = groups
        }
    }

    /// How far one rule's reading is.
    package struct Progress: Sendable, Hashable {
        package var rule: String
        package var daysRead: Int
        package var days: Int
    }

    package let span: BacktestSpan
    private let configuration: EvaluatorConfiguration
    private let session: any PostgresSession

    package init(
        span: BacktestSpan,
        configuration: EvaluatorConfiguration = EvaluatorConfiguration(),
        on session: any PostgresSession
    ) {
        self.span = span
        self.configuration = configuration
        self.session = session
    }

    package func run(_ rule: AlertRule, onProgress: (Progress) -> Void = { _ in }) async throws -> Result {
        let (histories, episodes) = try await fold(rule, onProgress: onProgress)
        return Result(rule: rule, episodes: episodes, groups: histories.map(\.group))
    }

    /// `all`: the rules they are used with. Those that hold one of `rules` back are followed too, though they are not asked for.
    package func run(
        _ rules: [AlertRule],
        among all: [AlertRule]? = nil,
        onProgress: (Progress) -> Void = { _ in }
    ) async throws -> [Result] {
        let asked = Set(rules.map(\.name))
        let causes = Set(rules.flatMap(\.suppressedBy))
        var found: [String: (groups: [GroupKey], episodes: [BacktestEpisode])] = [:]
        for rule in all ?? rules where asked.contains(rule.name) || causes.contains(rule.name) {
            let (histories, episodes) = try await foldAll(rule, onProgress: onProgress)
            found[rule.name] = (histories.map(\.group), episodes)
        }
        return rules.map { rule in
            let causes = rule.suppressedBy.flatMap { found[$0]?.episodes ?? [] }.map(\.span)
            let episodes = (found[rule.name]?.episodes ?? []).filter { $0.lasts(since: span.since) }.map { episode in
                var episode = episode
                episode.telling = Suppression.outcome(of: episode.span, lastSet: episode.lastSet, causes: causes)
                return episode
            }
            return Result(rule: rule, episodes: episodes, groups: found[rule.name]?.groups ?? [])
        }
    }

    /// The histories of a rule's groups, and what came of them within the time.
    func fold(_ rule: AlertRule, onProgress: (Progress) -> Void) async throws -> (histories: [GroupHistory], episodes: [BacktestEpisode]) {
        let (histories, episodes) = try await foldAll(rule, onProgress: onProgress)
        return (histories, episodes.filter { $0.lasts(since: span.since) })
    }

    /// With what was over before the time.
    private func foldAll(
        _ rule: AlertRule,
        onProgress: (Progress) -> Void
    ) async throws -> (histories: [GroupHistory], episodes: [BacktestEpisode]) {
        let start = span.start(of: rule, configuration)
        let histories = try await BacktestHistory.read(rule, from: start, through: span.last, on: session, onProgress: onProgress)
        return (histories, Self.episodes(of: rule, histories, from: start, span: span))
    }

    /// When the stored history begins; nil when nothing is stored.
    package func firstMinute() async throws -> Minute? {
        let row = try await session.query("SELECT min(minute) FROM attemptRollups").first
        return try row?.decode(Timestamp?.self).map { Minute($0) }
    }

    /// The pure part: histories must hold what the rule needs to decide about every minute from `start` on.
    package static func episodes(
        of rule: AlertRule,
        _ histories: [GroupHistory],
        from start: Minute,
        span: BacktestSpan
    ) -> [BacktestEpisode] {
        let states = Dictionary(histories.map { ($0.group, LatchState(asOf: start - 1)) }, uniquingKeysWith: { first, _ in first })
        let fold = RuleEvaluation.evaluate(rule, histories: histories, from: states, through: span.last)
        return BacktestEpisode.pairs(fold.transitions, open: fold.states)
    }
}
