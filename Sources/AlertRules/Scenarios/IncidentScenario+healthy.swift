extension IncidentScenario {
    /// Attempts a minute of ten groups.
    package static let groups: [Double] = [0.5, 1, 3, 6, 10, 20, 50, 100, 300, 1000]

    /// For each rule its pages in weeks without an incident: every six hours a minute in which everything fails, and every day an hour of
    /// ten times the attempts, of which three times as many fail.
    package static func healthyPages(_ rules: [AlertRule], rate: Double, weeks: Int, seed: UInt64) -> [Int] {
        var pages = rules.map { _ in 0 }
        guard let healthy = rules.first?.condition.base.scenarioShare.map({ $0 / 10 }) else { return pages }
        var random = SeededGenerator(seed: seed)
        for _ in 0..<weeks {
            let counts = (0..<7 * 1440).map { minute in
                let isCampaign = minute % 1440 < 60
                return random.counts(isCampaign ? 10 * rate : rate, share: minute % 360 == 200 ? 1 : isCampaign ? 3 * healthy : healthy)
            }
            let history = GroupHistory(series: MinuteSeries(first: RuleTest.start, minutes: counts))
            for (index, rule) in rules.enumerated() { pages[index] += transitions(rule, history).count { $0.kind == .fired } }
        }
        return pages
    }
}
