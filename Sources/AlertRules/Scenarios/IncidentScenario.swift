import Foundation

/// Incidents of a known share, and how the versions of a share rule decide about them: found how soon, ended how often too early, paged how
/// often.
///
/// Poisson arrivals a minute; 40 healthy minutes before each incident, 240 after it. Both versions are given the same minutes, which one
/// seed reproduces.
package struct IncidentScenario: Sendable, Hashable {
    package enum Shape: String, Sendable, Hashable, CaseIterable {
        case steady
        case halves = "5 on, 5 off"
        /// Grows over the first half.
        case ramp
    }

    /// The sums over all runs.
    package struct Result: Sendable, Hashable {
        package var runs = 0
        /// Days of incident.
        package var days = 0.0
        /// Minutes from the beginning to the alert, of the runs in which it fired while the incident lasted.
        package var delays: [Int] = []
        /// Ends while the incident lasted, and pages after them.
        package var falseResolves = 0
        package var secondPages = 0
        /// Pages about an incident that was over.
        package var latePages = 0
        /// Minutes from the end of the incident to the end of the alert.
        package var recoveries: [Int] = []

        package init() {}

        package mutating func add(_ other: Result) {
            runs += other.runs
            days += other.days
            delays += other.delays
            falseResolves += other.falseResolves
            secondPages += other.secondPages
            latePages += other.latePages
            recoveries += other.recoveries
        }

        package var medianDelay: Int? { delays.upperMedian }
        package var medianRecovery: Int? { recoveries.upperMedian }
    }

    private static let before = 40
    private static let after = 240

    /// Attempts a minute.
    package var rate: Double
    /// The share as a multiple of the threshold; nil: everything fails.
    package var multiple: Double?
    package var minutes: Int
    package var shape: Shape
    /// The healthy share as a part of the threshold.
    package var background: Double

    package init(rate: Double, multiple: Double?, minutes: Int, shape: Shape = .steady, background: Double = 0.1) {
        self.rate = rate
        self.multiple = multiple
        self.minutes = minutes
        self.shape = shape
        self.background = background
    }

    /// The result of each rule over the same runs; rules that do not decide by a share of attempts have none.
    package func results(_ rules: [AlertRule], runs: Int, seed: UInt64) -> [Result] {
        var random = SeededGenerator(seed: seed)
        var results = rules.map { _ in Result() }
        for _ in 0..<runs {
            guard let threshold = rules.first?.condition.base.scenarioShare else { return results }
            let history = traffic(threshold, &random)
            for (index, rule) in rules.enumerated() { add(rule, history, to: &results[index]) }
        }
        return results
    }

    private func add(_ rule: AlertRule, _ history: GroupHistory, to result: inout Result) {
        let start = history.total.first
        let transitions = Self.transitions(rule, history)
        let (begin, end) = (Self.before, Self.before + minutes)
        result.runs += 1
        result.days += Double(minutes) / 1440
        let pages = transitions.filter { $0.kind == .fired }.map { $0.firedAt - start }
        let resolves = transitions.filter { $0.kind == .resolved }.map { $0.minute + 1 - start }
        let during = pages.filter { $0 > begin && $0 <= end }
        if let first = during.first {
            result.delays.append(first - begin)
            result.falseResolves += resolves.count { $0 > first && $0 <= end }
        }
        result.secondPages += max(0, during.count - 1)
        result.latePages += pages.count { $0 > end }
        if !during.isEmpty, let last = resolves.last(where: { $0 > end }) { result.recoveries.append(last - end) }
    }

    static func transitions(_ rule: AlertRule, _ history: GroupHistory) -> [Transition] {
        RuleEvaluation.fold(rule, history, from: AlertState(asOf: history.total.first - 1), through: history.total.end - 1).transitions
    }

    private func traffic(_ threshold: Double, _ random: inout SeededGenerator) -> GroupHistory {
        let healthy = threshold * background
        let fault = min(1, multiple.map { $0 * threshold } ?? 1)
        let counts = (0..<(Self.before + minutes + Self.after)).map { minute in
            random.counts(rate, share: share(at: minute - Self.before, healthy, fault))
        }
        return GroupHistory(series: MinuteSeries(first: RuleTest.start, minutes: counts))
    }

    private func share(at minute: Int, _ healthy: Double, _ fault: Double) -> Double {
        guard (0..<minutes).contains(minute) else { return healthy }
        switch shape {
        case .steady: return fault
        case .halves: return minute % 10 < 5 ? fault : healthy
        case .ramp: return healthy + (fault - healthy) * min(1, Double(minute + 1) / Double(max(1, minutes / 2)))
        }
    }
}

extension AlertRule {
    /// The rule with another version of its share condition and that version's defaults, as it shipped; nil for other conditions.
    package func shareRule(_ version: RatioCondition.Version) -> AlertRule? {
        guard let ratio = condition.ratio else { return nil }
        if ratio.version == version { return self }
        var other = RatioCondition(reasons: ratio.reasons, above: ratio.above, for: ratio.duration, version: version)
        if version == .one { other.resolveWithin = RuleDuration(minutes: 120) }
        return AlertRule(
            name: name,
            ruleGroup: ruleGroup,
            condition: .ratio(other),
            by: by,
            severity: severity,
            labels: labels,
            annotations: annotations,
            source: source
        )
    }
}

extension SeededGenerator {
    /// Arrivals of two kinds, each after Poisson's law, are arrivals of which each fails with the same chance.
    mutating func counts(_ rate: Double, share: Double) -> AttemptCounts {
        let bad = arrivals(rate * share)
        return AttemptCounts(attempts: bad + arrivals(rate * (1 - share)), bad: bad)
    }

    /// Poisson's law; for large means the normal distribution, which takes no longer for them.
    mutating func arrivals(_ mean: Double) -> Int64 {
        guard mean > 60 else { return poisson(mean) }
        let radius = (-2 * log(1 - Double.random(in: 0..<1, using: &self))).squareRoot()
        let normal = radius * cos(2 * Double.pi * Double.random(in: 0..<1, using: &self))
        return max(0, Int64((mean + normal * mean.squareRoot()).rounded()))
    }
}
