package import AlertRules
package import Postgres
import PushContract

/// Folds a rule's decisions over stored history, with the result that live evaluation, minute by minute, would have had.
///
/// Reads rollups, stored baseline days and exclusions; writes nothing. Its cost follows the length of the time and the number of
/// groups, not the number of attempts.
package struct RuleBacktest: Sendable {
    /// The alerts of one rule.
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

    /// How far the history of one rule is read.
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
        let (groups, alerts) = try await fold(rule, onProgress: onProgress)
        return Result(rule: rule, alerts: alerts.filter { $0.lasts(since: span.since) }, groups: groups)
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
            found[rule.name] = try await fold(rule, onProgress: onProgress)
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

    /// A rule's groups and their alerts, those that ended before the period too. `each` gets one group after the other with its alerts.
    func fold(
        _ rule: AlertRule,
        onProgress: (Progress) -> Void,
        each: (GroupHistory, [BacktestAlert]) -> Void = { _, _ in }
    ) async throws -> (groups: [GroupKey], alerts: [BacktestAlert]) {
        let start = span.start(of: rule, configuration)
        var groups: [GroupKey] = []
        var transitions: [Transition] = []
        var states: [GroupKey: AlertState] = [:]
        try await BacktestHistory.each(rule, from: start, through: span.last, on: session, onProgress: onProgress) { history in
            let fold = RuleEvaluation.evaluate(
                rule,
                histories: [history],
                from: [history.group: AlertState(asOf: start - 1)],
                through: span.last
            )
            groups.append(history.group)
            transitions += fold.transitions
            states.merge(fold.states) { $1 }
            each(history, BacktestAlert.pairs(fold.transitions, open: fold.states))
        }
        transitions.sort { ($0.minute, $0.group) < ($1.minute, $1.group) }
        return (groups, BacktestAlert.pairs(transitions, open: states))
    }

    /// When the stored history begins; nil when nothing is stored.
    package func firstMinute() async throws -> Minute? {
        let row = try await session.query("SELECT min(minute) FROM attemptRollups").first
        return try row?.decode(Timestamp?.self).map { Minute($0) }
    }

    /// The pure part: histories must contain the minutes that decisions from `start` on depend on.
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
