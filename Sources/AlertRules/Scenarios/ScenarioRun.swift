import Foundation
import ServiceKit

/// Plays scenarios to a rule: minutes with Poisson arrivals and random failures, reproducible by seed.
package struct ScenarioRun: Sendable {
    /// Weeks without a fault, and how many faults.
    package var weeks: Int
    package var faults: Int
    /// Minutes after its beginning within which a fault must be found.
    private static let detectionDeadline = 360

    package init(weeks: Int = 4, faults: Int = 40) {
        self.weeks = weeks
        self.faults = faults
    }

    /// Nil for rules that do not decide by a share of attempts, and for baselines.
    package func result(_ rule: AlertRule, _ scenario: RuleScenario) -> ScenarioResult? {
        guard let threshold = rule.condition.base.scenarioShare else { return nil }
        var random = SeededGenerator(seed: 4711)
        var result = ScenarioResult(rule: rule.name, scenario: scenario)
        if scenario.isHealthy {
            let firings = firings(rule, scenario, threshold, minutes: weeks * 7 * 1440, &random)
            result.falseAlarmsPerWeek = Double(firings.count) / Double(weeks)
        } else {
            let delays = (0..<faults).compactMap { _ -> Int? in
                firings(rule, scenario, threshold, minutes: RuleScenario.onset + Self.detectionDeadline, &random)
                    .first { $0 > RuleScenario.onset }.map { $0 - RuleScenario.onset }
            }
            result.found = Double(delays.count) / Double(faults)
            result.medianDelay = delays.upperMedian
        }
        return result
    }

    private func firings(
        _ rule: AlertRule,
        _ scenario: RuleScenario,
        _ threshold: Double,
        minutes: Int,
        _ random: inout SeededGenerator
    ) -> [Int] {
        let counts = (0..<minutes).map { minute -> AttemptCounts in
            let (rate, share) = scenario.traffic(at: minute, threshold: threshold)
            let attempts = random.poisson(rate)
            return AttemptCounts(attempts: attempts, bad: random.binomial(attempts, share))
        }
        let start = RuleTest.start
        let history = GroupHistory(series: MinuteSeries(first: start, minutes: counts))
        return RuleEvaluation.fold(rule, history, from: AlertState(asOf: start - 1), through: start + (minutes - 1)).transitions
            .filter { $0.kind == .fired }.map { $0.firedAt - start }
    }
}

/// Reproducible random traffic.
struct SeededGenerator: RandomNumberGenerator {
    private var bits: SplitMix64

    init(seed: UInt64) { bits = SplitMix64(seed: seed) }

    mutating func next() -> UInt64 { bits.next() }

    /// Arrivals of one minute, after Knuth in steps that do not underflow.
    mutating func poisson(_ mean: Double) -> Int64 {
        var rest = mean
        var count: Int64 = 0
        while rest > 0 {
            let step = min(rest, 30)
            rest -= step
            let limit = exp(-step)
            var product = Double.random(in: 0..<1, using: &self)
            while product > limit {
                count += 1
                product *= Double.random(in: 0..<1, using: &self)
            }
        }
        return count
    }

    mutating func binomial(_ trials: Int64, _ share: Double) -> Int64 {
        if share >= 1 { return trials }
        var count: Int64 = 0
        for _ in 0..<trials where Double.random(in: 0..<1, using: &self) < share { count += 1 }
        return count
    }
}
