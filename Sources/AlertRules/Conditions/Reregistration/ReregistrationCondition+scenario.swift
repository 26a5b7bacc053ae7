extension ReregistrationCondition {
    var seriesScenario: SeriesScenario.Input? {
        SeriesScenario.Input(
            healthy: "30 % of 20 devices an hour return, some days fewer",
            fault: "one in twenty returns",
            known: 9 * 1440,
            detectionDeadline: 3 * 1440
        ) { minutes, onset, random in
            Self.cohorts(minutes: minutes, onset: onset, &random)
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
