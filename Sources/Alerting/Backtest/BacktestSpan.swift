package import AlertRules

/// The period of a backtest.
package struct BacktestSpan: Sendable, Hashable {
    /// The first minute whose alerts are shown.
    package var since: Minute
    /// The newest minute that is evaluated.
    package var last: Minute

    package init(since: Minute, last: Minute) {
        self.since = since
        self.last = last
    }

    package var minutes: Int { last - since + 1 }

    /// Where the fold of a rule begins, so that an alert that already fired at `since` is found: as far back as the evaluator folds a new
    /// rule.
    package func start(of rule: AlertRule, _ configuration: EvaluatorConfiguration = EvaluatorConfiguration()) -> Minute {
        since - configuration.initialLookbackMinutes(rule)
    }
}

extension EvaluatorConfiguration {
    /// How far back a rule without a checkpoint is folded.
    func initialLookbackMinutes(_ rule: AlertRule) -> Int {
        (rule.condition.baseline?.warmUpDays ?? initialLookbackDays) * 1440
    }
}
