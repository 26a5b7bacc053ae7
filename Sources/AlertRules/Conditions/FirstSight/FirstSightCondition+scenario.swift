extension FirstSightCondition {
    var seriesScenario: SeriesScenario.Input? {
        SeriesScenario.Input(
            healthy: "a code every three days",
            fault: "a code that was never seen",
            known: 16 * 1440,
            detectionDeadline: 60,
            group: GroupKey([.provider: "apns", .providerErrorCode: "Synthetic"])
        ) { minutes, onset, random in
            Self.code(minutes: minutes, onset: onset, learn: learn.minutes, &random)
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
}
