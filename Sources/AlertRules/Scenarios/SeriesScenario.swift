/// How rules on other series than shares of attempts behave on synthetic days: a send queue, codes of a provider, devices that return.
///
/// The same each time. Healthy traffic contains what is usual and resembles a fault: campaigns that fill the queue at once, codes that are
/// in no table and occur rarely, days on which fewer devices return.
package struct SeriesScenario: Sendable {
    package struct Result: Sendable, Hashable {
        package var rule: String
        /// What was healthy, and what was not, in a few words.
        package var healthy: String
        package var fault: String
        package var falseAlarmsPerWeek: Double
        package var detection: BaselineScenario.Detection
    }

    package var weeks: Int
    package var faults: Int

    package init(weeks: Int = 4, faults: Int = 40) {
        self.weeks = weeks
        self.faults = faults
    }

    /// Nil for rules about shares of attempts.
    package func result(_ rule: AlertRule) -> Result? {
        rule.condition.base.seriesScenario.map { result(rule, $0) }
    }

    private func result(_ rule: AlertRule, _ input: Input) -> Result {
        var random = SeededGenerator(seed: 4711)
        let length = input.known + weeks * 7 * 1440
        let alarms = firings(rule, input.group, input.series(length, nil, &random)).count { $0 >= input.known }
        let delays = (0..<faults).compactMap { _ -> Int? in
            // At any minute of the day.
            let onset = input.known + Int.random(in: 0..<1440, using: &random)
            return firings(rule, input.group, input.series(onset + input.detectionDeadline, onset, &random)).first { $0 > onset }.map {
                $0 - onset
            }
        }.sorted()
        return Result(
            rule: rule.name,
            healthy: input.healthy,
            fault: input.fault,
            falseAlarmsPerWeek: Double(alarms) / Double(weeks),
            detection: BaselineScenario.Detection(
                found: Double(delays.count) / Double(faults),
                medianDelay: delays.upperMedian
            )
        )
    }

    private func firings(_ rule: AlertRule, _ group: GroupKey, _ minutes: [AttemptCounts]) -> [Int] {
        let start = RuleTest.start
        let stratum = StratumHistory(key: group, series: MinuteSeries(first: start, minutes: minutes), days: [])
        let history = GroupHistory(group: group, strata: [stratum], knownSince: start)
        return RuleEvaluation.fold(rule, history, from: AlertState(asOf: start - 1), through: start + (minutes.count - 1)).transitions
            .filter { $0.kind == .fired }.map { $0.firedAt - start }
    }
}

extension SeriesScenario {
    /// Synthetic minutes for one condition.
    struct Input {
        /// What is healthy, and what is not, in a few words.
        var healthy: String
        var fault: String
        /// Minutes before the first fault, which a rule needs as history.
        var known: Int
        /// Minutes after the onset within which a fault must be found.
        var detectionDeadline: Int
        var group = GroupKey([.provider: "apns"])
        /// The minutes, with a fault from `onset` on.
        var series: (_ minutes: Int, _ onset: Int?, _ random: inout SeededGenerator) -> [AttemptCounts]
    }
}
