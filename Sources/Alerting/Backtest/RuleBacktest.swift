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
        package var alerts: [BacktestAlert]
        /// Groups that had any traffic.
        package var groups: [GroupKey]

        package init(rule: AlertRule, alerts: [BacktestAlert], groups: [GroupKey]) {
            self.rule = rule
            self.alerts = alerts
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
        let (histories, alerts) = try await fold(rule, onProgress: onProgress)
        return Result(rule: rule, alerts: alerts, groups: histories.map(\.group))
    }

    /// `all`: the rules they are used with. Those that suppress one of `rules` are evaluated too, although not requested.
    package func run(
        _ rules: [AlertRule],
        among all: [AlertRule]? = nil,
        onProgress: (Progress) -> Void = { _ in }
    ) async throws -> [Result] {
        let asked = Set(rules.map(\.name))
        let causes = Set(rules.flatMap(\.suppressedBy))
        var found: [String: (groups: [GroupKey], alerts: [BacktestAlert])] = [:]
        for rule in all ?? rules where asked.contains(rule.name) || causes.contains(rule.name) {
            let (histories, alerts) = try await foldAll(rule, onProgress: onProgress)
            found[rule.name] = (histories.map(\.group), alerts)
        }
        return rules.map { rule in
            let causes = rule.suppressedBy.flatMap { found[$0]?.alerts ?? [] }.map(\.span)
            let alerts = (found[rule.name]?.alerts ?? []).filter { $0.lasts(since: span.since) }.map { alert in
                var alert = alert
                alert.suppression = Suppression.outcome(of: alert.span, lastSet: alert.lastSet, causes: causes)
                return alert
            }
            return Result(rule: rule, alerts: alerts, groups: found[rule.name]?.groups ?? [])
        }
    }

    /// The histories of a rule's groups, and what came of them within the time.
    func fold(_ rule: AlertRule, onProgress: (Progress) -> Void) async throws -> (histories: [GroupHistory], alerts: [BacktestAlert]) {
        let (histories, alerts) = try await foldAll(rule, onProgress: onProgress)
        return (histories, alerts.filter { $0.lasts(since: span.since) })
    }

    /// With what was over before the time.
    private func foldAll(
        _ rule: AlertRule,
        onProgress: (Progress) -> Void
    ) async throws -> (histories: [GroupHistory], alerts: [BacktestAlert]) {
        let start = span.start(of: rule, configuration)
        let histories = try await BacktestHistory.read(rule, from: start, through: span.last, on: session, onProgress: onProgress)
        return (histories, Self.alerts(of: rule, histories, from: start, span: span))
    }

    /// When the stored history begins; nil when nothing is stored.
    package func firstMinute() async throws -> Minute? {
        let row = try await session.query("SELECT min(minute) FROM attemptRollups").first
        return try row?.decode(Timestamp?.self).map { Minute($0) }
    }

    /// The pure part: histories must contain what the rule needs to decide about every minute from `start` on.
    package static func alerts(
        of rule: AlertRule,
        _ histories: [GroupHistory],
        from start: Minute,
        span: BacktestSpan
    ) -> [BacktestAlert] {
        let states = Dictionary(histories.map { ($0.group, AlertState(asOf: start - 1)) }, uniquingKeysWith: { first, _ in first })
        let fold = RuleEvaluation.evaluate(rule, histories: histories, from: states, through: span.last)
        return BacktestAlert.pairs(fold.transitions, open: fold.states)
    }
}
