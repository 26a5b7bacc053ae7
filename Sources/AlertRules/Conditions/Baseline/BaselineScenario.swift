import Foundation

/// What a baseline rule makes of synthetic weeks (§2.4 of the reference, appendix A): transactional sends with a daily curve of which 0.3 %
/// fail, and broadcasts at any hour of which 3 % do; both shares vary from hour to hour.
package struct BaselineScenario: Sendable {
    /// Part of the full volume: 3,000 transactional sends an hour, and broadcasts of 20,000.
    package enum Volume: Double, Sendable, Hashable, CaseIterable {
        case full = 1
        case tenth = 0.1
        case fiftieth = 0.02
    }

    package struct Result: Sendable, Hashable {
        package var rule: String
        package var volume: Volume
        package var falseAlarmsPerWeek: Double
        /// Of faults that make transactional sends fail four and eight times as often, for six hours.
        package var fourfold: Detection
        package var eightfold: Detection
    }

    package struct Detection: Sendable, Hashable {
        /// Part of the faults that were found while they lasted.
        package var found: Double
        /// Minutes, the median of those found; nil when none was.
        package var medianDelay: Int?
    }

    private static let learning = 8 * 1440
    private static let faultMinutes = 360
    private static let alert = GroupKey([.provider: "apns", .platform: "ios", .environment: "production", .pushType: "alert"])
    private static let background = GroupKey([.provider: "apns", .platform: "ios", .environment: "production", .pushType: "background"])

    package var weeks: Int
    package var faults: Int

    package init(weeks: Int = 4, faults: Int = 40) {
        self.weeks = weeks
        self.faults = faults
    }

    /// Nil for rules without a baseline.
    package func result(_ rule: AlertRule, _ volume: Volume) -> Result? {
        guard rule.condition.baseline != nil else { return nil }
        var random = SeededGenerator(seed: 4711)
        let healthy = traffic(minutes: Self.learning + weeks * 7 * 1440, volume, fault: nil, &random)
        let alarms = firings(rule, healthy).count { $0 >= Self.learning }
        return Result(
            rule: rule.name,
            volume: volume,
            falseAlarmsPerWeek: Double(alarms) / Double(weeks),
            fourfold: detection(rule, volume, factor: 4, &random),
            eightfold: detection(rule, volume, factor: 8, &random)
        )
    }

    private func detection(_ rule: AlertRule, _ volume: Volume, factor: Double, _ random: inout SeededGenerator) -> Detection {
        let delays = (0..<faults).compactMap { _ -> Int? in
            // At any hour of the ninth day.
            let onset = Self.learning + Int.random(in: 0..<1440, using: &random)
            let history = traffic(minutes: onset + Self.faultMinutes, volume, fault: (onset, factor), &random)
            return firings(rule, history).first { $0 > onset }.map { $0 - onset }
        }
        return Detection(found: Double(delays.count) / Double(faults), medianDelay: delays.upperMedian)
    }

    private func firings(_ rule: AlertRule, _ history: GroupHistory) -> [Int] {
        RuleEvaluation.fold(rule, history, from: AlertState(asOf: RuleTest.start - 1), through: history.total.end - 1).transitions
            .filter { $0.kind == .fired && $0.evidence.level == .reference }.map { $0.firedAt - RuleTest.start }
    }

    private func traffic(
        minutes: Int,
        _ volume: Volume,
        fault: (onset: Int, factor: Double)?,
        _ random: inout SeededGenerator
    ) -> GroupHistory {
        var sends: [AttemptCounts] = []
        var broadcasts: [AttemptCounts] = []
        var share = 0.0
        var broadcast: (minutesLeft: Int, share: Double) = (0, 0)
        for minute in 0..<minutes {
            if minute % 60 == 0 {
                share = 0.003 * random.factor(variation: 0.25)
                // 0.6 a day; one takes an hour.
                if Double.random(in: 0..<1, using: &random) < 0.6 / 24 { broadcast = (60, 0.03 * random.factor(variation: 0.4)) }
            }
            let curve = 1 - 0.8 * cos(Double(minute % 1440) / 1440 * 2 * Double.pi)
            let attempts = random.poisson(50 * volume.rawValue * curve)
            let isFaulty = fault.map { minute >= $0.onset } ?? false
            sends.append(counts(attempts, share * (isFaulty ? fault?.factor ?? 1 : 1), &random))
            let sent = broadcast.minutesLeft > 0 ? random.poisson(20_000 / 60 * volume.rawValue) : 0
            broadcasts.append(counts(sent, broadcast.share, &random))
            broadcast.minutesLeft -= 1
        }
        let strata = [(Self.alert, sends), (Self.background, broadcasts)].map { key, minutes in
            StratumHistory(key: key, series: MinuteSeries(first: RuleTest.start, minutes: minutes))
        }
        return GroupHistory(group: GroupKey([.provider: "apns"]), strata: strata)
    }

    /// Rare failures of many attempts: after Poisson's law, since drawing each attempt would take too long.
    private func counts(_ attempts: Int64, _ share: Double, _ random: inout SeededGenerator) -> AttemptCounts {
        AttemptCounts(attempts: attempts, bad: min(attempts, random.poisson(Double(attempts) * share)))
    }
}

extension SeededGenerator {
    /// Around 1, with this standard deviation, never negative: the sum of uniform numbers.
    mutating func factor(variation: Double) -> Double {
        let sum = (0..<12).reduce(0.0) { sum, _ in sum + Double.random(in: 0..<1, using: &self) } - 6
        return max(0, 1 + variation * sum)
    }
}
