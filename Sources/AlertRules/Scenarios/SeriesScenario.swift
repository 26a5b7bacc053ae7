/// What rules about other things than shares make of made-up days: a send queue, codes of a provider, devices that return.
///
/// The same each time. Healthy traffic has what is usual and looks alarming: campaigns that fill the queue at once, codes that are in no table and
/// come now and then, days on which fewer devices return.
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
        switch rule.condition {
        case .ratio, .baseline, .absence: nil
        case .backlog(let backlog):
            result(
                rule,
                healthy: "a queue that breathes, campaigns at once and over ten minutes",
                fault: "a fifth of what comes in is not sent",
                known: 240,
                detectionDeadline: 360
            ) { minutes, onset, random in
                Self.queue(minutes: minutes, threshold: backlog.above, onset: onset, &random)
            }
        case .firstSight(let sight):
            result(
                rule,
                healthy: "a code every three days",
                fault: "a code nobody has seen",
                known: 16 * 1440,
                detectionDeadline: 60,
                group: GroupKey([.provider: "apns", .providerErrorCode: "MadeUp"])
            ) { minutes, onset, random in
                Self.code(minutes: minutes, onset: onset, learn: sight.learn.minutes, &random)
            }
        case .reregistration:
            result(
                rule,
                healthy: "30 % of 20 devices an hour return, some days fewer",
                fault: "one in twenty returns",
                known: 9 * 1440,
                detectionDeadline: 3 * 1440
            ) { minutes, onset, random in
                Self.cohorts(minutes: minutes, onset: onset, &random)
            }
        }
    }

    /// `known`: minutes before the first fault, which a rule has to know already.
    private func result(
        _ rule: AlertRule,
        healthy: String,
        fault: String,
        known: Int,
        detectionDeadline: Int,
        group: GroupKey = GroupKey([.provider: "apns"]),
        _ series: (_ minutes: Int, _ onset: Int?, inout SeededGenerator) -> [AttemptCounts]
    ) -> Result {
        var random = SeededGenerator(seed: 4711)
        let length = known + weeks * 7 * 1440
        let alarms = firings(rule, group, series(length, nil, &random)).count { $0 >= known }
        let delays = (0..<faults).compactMap { _ -> Int? in
            // At any minute of the day.
            let onset = known + Int.random(in: 0..<1440, using: &random)
            return firings(rule, group, series(onset + detectionDeadline, onset, &random)).first { $0 > onset }.map { $0 - onset }
        }.sorted()
        return Result(
            rule: rule.name,
            healthy: healthy,
            fault: fault,
            falseAlarmsPerWeek: Double(alarms) / Double(weeks),
            detection: BaselineScenario.Detection(
                found: Double(delays.count) / Double(faults),
                medianDelay: delays.isEmpty ? nil : delays[delays.count / 2]
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

    /// Six hundred a minute come in and a little more could go out. Campaigns of five times the threshold come every three hours, in turn at
    /// once and over ten minutes, and are worked off within a quarter of an hour.
    private static func queue(minutes: Int, threshold: Int64, onset: Int?, _ random: inout SeededGenerator) -> [AttemptCounts] {
        var waiting: Int64 = 0
        return (0..<minutes).map { minute in
            let isFaulty = onset.map { minute >= $0 } ?? false
            let out: Int64 = isFaulty ? 480 : 660 + threshold / 2
            waiting = max(random.poisson(60), waiting + 10 * random.poisson(60) + campaign(minute, threshold: threshold, out) - out)
            return AttemptCounts(attempts: 1, bad: waiting)
        }
    }

    /// What a campaign adds in a minute; `out` goes out meanwhile.
    private static func campaign(_ minute: Int, threshold: Int64, _ out: Int64) -> Int64 {
        switch minute % 360 {
        case 240: 5 * threshold
        case 60..<70: threshold / 2 + out - 600
        default: 0
        }
    }

    /// Healthy: a code that comes every three days or so, and is known. Faulty: nothing of it until the onset, then one a minute or so.
    private static func code(minutes: Int, onset: Int?, learn: Int, _ random: inout SeededGenerator) -> [AttemptCounts] {
        (0..<minutes).map { minute in
            let isSeen: Bool
            if let onset {
                isSeen = minute >= onset && Double.random(in: 0..<1, using: &random) < 0.5
            } else {
                isSeen = minute < learn ? minute == learn / 2 : Double.random(in: 0..<1, using: &random) < 1 / (3.0 * 1440)
            }
            return AttemptCounts(attempts: isSeen ? 1 : 0, bad: isSeen ? 1 : 0)
        }
    }

    /// One cohort an hour; `bad` did not return.
    private static func cohorts(minutes: Int, onset: Int?, _ random: inout SeededGenerator) -> [AttemptCounts] {
        var share = 0.3
        return (0..<minutes).map { minute in
            if minute % 1440 == 0 { share = min(0.9, 0.3 * random.factor(variation: 0.15)) }
            guard minute % 60 == 0 else { return AttemptCounts() }
            let devices = random.poisson(20)
            let isFaulty = onset.map { minute >= $0 } ?? false
            return AttemptCounts(attempts: devices, bad: devices - random.binomial(devices, isFaulty ? 0.05 : share))
        }
    }
}
