extension BacklogCondition {
    var seriesScenario: SeriesScenario.Input? {
        SeriesScenario.Input(
            healthy: "a queue that breathes, campaigns at once and over ten minutes",
            fault: "a fifth of what comes in is not sent",
            known: 240,
            detectionDeadline: 360
        ) { minutes, onset, random in
            Self.queue(minutes: minutes, threshold: above, onset: onset, &random)
        }
    }

    /// 600 are added each minute, and a few more could be sent. Campaigns of five times the threshold come every three hours, in turn at
    /// once and over ten minutes, and are sent within a quarter of an hour.
    private static func queue(minutes: Int, threshold: Int64, onset: Int?, _ random: inout SeededGenerator) -> [AttemptCounts] {
        var waiting: Int64 = 0
        return (0..<minutes).map { minute in
            let isFaulty = onset.map { minute >= $0 } ?? false
            let out: Int64 = isFaulty ? 480 : 660 + threshold / 2
            waiting = max(random.poisson(60), waiting + 10 * random.poisson(60) + campaign(minute, threshold: threshold, out) - out)
            return AttemptCounts(attempts: 1, bad: waiting)
        }
    }

    /// What a campaign adds in a minute in which `out` are sent.
    private static func campaign(_ minute: Int, threshold: Int64, _ out: Int64) -> Int64 {
        switch minute % 360 {
        case 240: 5 * threshold
        case 60..<70: threshold / 2 + out - 600
        default: 0
        }
    }
}
