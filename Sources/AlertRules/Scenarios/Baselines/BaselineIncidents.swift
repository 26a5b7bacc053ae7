/// How the versions of a baseline rule decide about healthy weeks, beginnings, rises and purges, on the same traffic.
package struct BaselineIncidents: Sendable {
    /// The sums over some runs.
    package struct Result: Sendable, Hashable {
        package var runs = 0
        package var weeks = 0.0
        /// In the evaluated time, or while the fault lasts.
        package var pages = 0
        package var tickets = 0
        /// Runs with a page.
        package var paged = 0
        /// Runs of which a second page came while the fault lasted.
        package var pagedTwice = 0
        package var pagesAfter = 0
        /// Minutes to the first page, of the runs with one.
        package var delays: [Int] = []

        package init() {}

        package mutating func add(_ other: Result) {
            runs += other.runs
            weeks += other.weeks
            pages += other.pages
            tickets += other.tickets
            paged += other.paged
            pagedTwice += other.pagedTwice
            pagesAfter += other.pagesAfter
            delays += other.delays
        }

        package var found: Double { runs > 0 ? Double(paged) / Double(runs) : 0 }
        package var medianDelay: Int? { delays.upperMedian }
    }

    private static let purgeVolume = 25.0
    private static let purgeShare = 0.25
    private static let purgeMinutes = 120
    /// Healthy days before a fault, and after it.
    private static let before = 16
    private static let after = 3

    let rules: [AlertRule]
    package let runs: Int

    /// Nil for a rule without a baseline; otherwise with version 1 and version 2 of it.
    package init?(_ rule: AlertRule, runs: Int) {
        guard let one = rule.baselineRule(.one), let two = rule.baselineRule(.two) else { return nil }
        rules = [one, two]
        self.runs = runs
    }

    /// Three weeks in which nothing is wrong, after two that are not evaluated.
    package func healthy(rate: Double, share: Double, seed: UInt64) -> [Result] {
        results(seed) { random in
            (BaselineTraffic(rate: rate, share: share, days: 35).history(&random), 14 * 1440, 35 * 1440)
        }
    }

    /// 45 days from a beginning on, at ten a minute.
    package func beginning(_ kind: BaselineBeginning, seed: UInt64) -> [Result] {
        results(seed) { random in
            let share = [0.002, 0.005, 0.02][Int.random(in: 0..<3, using: &random)]
            return (BaselineTraffic(rate: 10, share: share, days: 45, shape: kind.shape).history(&random), 0, 45 * 1440)
        }
    }

    /// A fresh system, 195 sends of ten days before, and today's traffic at ten a minute of which 0.5 % fail.
    package func newcomer(seed: UInt64) -> [Result] {
        results(seed) { random in
            let shape: BaselineTraffic.Shape = { BaselineBeginning.smallImport.shape(at: $0) }
            return (BaselineTraffic(rate: 10, share: 0.005, days: 12, shape: shape).history(&random), 0, 12 * 1440)
        }
    }

    /// A rise to a multiple of the usual share, at any time of a day.
    package func rise(rate: Double, share: Double, multiple: Double, minutes: Int, seed: UInt64) -> [Result] {
        results(seed) { random in
            let begin = onset(&random)
            let end = begin + minutes
            var traffic = BaselineTraffic(rate: rate, share: share, days: Self.before + Self.after + minutes / 1440)
            if share > 0 { traffic.shape = { (1, (begin..<end).contains($0) ? multiple : 1) } }
            // Zero has no multiple.
            if share == 0 { traffic.fixedShare = { (begin..<end).contains($0) ? multiple * 0.002 : nil } }
            return (traffic.history(&random), begin, end)
        }
    }

    /// Two hours of 25 times the sends, of which a quarter go to tokens that are no longer registered; nine days follow.
    package func purge(rate: Double, share: Double, seed: UInt64) -> [Result] {
        results(seed) { random in
            let begin = onset(&random)
            let end = begin + Self.purgeMinutes
            var traffic = BaselineTraffic(rate: rate, share: share, days: Self.before + 10)
            traffic.shape = { ((begin..<end).contains($0) ? Self.purgeVolume : 1, 1) }
            traffic.fixedShare = { (begin..<end).contains($0) ? Self.purgeShare : nil }
            return (traffic.history(&random), begin, end)
        }
    }

    private func onset(_ random: inout SeededGenerator) -> Int {
        let slot = BaselineTraffic.slot
        return (Self.before - 1) * 1440 + Int.random(in: 0..<1440 / slot, using: &random) * slot
    }

    /// `make`: traffic, and the minutes that are evaluated.
    private func results(
        _ seed: UInt64,
        _ make: (inout SeededGenerator) -> (history: GroupHistory, from: Int, to: Int)
    ) -> [Result] {
        var random = SeededGenerator(seed: seed)
        var results = rules.map { _ in Result() }
        for _ in 0..<runs {
            let (history, from, to) = make(&random)
            for (index, rule) in rules.enumerated() { results[index].add(result(rule, history, from, to)) }
        }
        return results
    }

    private func result(_ rule: AlertRule, _ history: GroupHistory, _ from: Int, _ to: Int) -> Result {
        let start = history.total.first
        let fired = RuleEvaluation.fold(rule, history, from: AlertState(asOf: start - 1), through: history.total.end - 1).transitions
            .filter { $0.kind == .fired }
        let pages = fired.filter { $0.severity.pages }.map { $0.firedAt - start }
        let judged = pages.filter { $0 > from && $0 <= to }
        var result = Result()
        result.runs = 1
        result.weeks = Double(to - from) / 10_080
        result.pages = judged.count
        result.tickets = fired.count { !$0.severity.pages && $0.firedAt - start > from && $0.firedAt - start <= to }
        result.paged = judged.isEmpty ? 0 : 1
        result.pagedTwice = judged.count > 1 ? 1 : 0
        result.pagesAfter = pages.count { $0 > to }
        result.delays = judged.first.map { [$0 - from] } ?? []
        return result
    }
}

extension AlertRule {
    /// The rule with another version of its baseline and that version's defaults, for all traffic; nil for other conditions.
    func baselineRule(_ version: BaselineCondition.Version) -> AlertRule? {
        guard let baseline = condition.baseline else { return nil }
        var other = BaselineCondition(reasons: baseline.reasons, above: baseline.above, version: version)
        other.of = baseline.of
        return AlertRule(
            name: name,
            ruleGroup: ruleGroup,
            condition: .baseline(other),
            by: by,
            severity: severity,
            labels: labels,
            annotations: annotations,
            source: source
        )
    }
}
