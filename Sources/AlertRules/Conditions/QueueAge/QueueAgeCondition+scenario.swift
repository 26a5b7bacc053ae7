extension QueueAgeCondition {
    var seriesScenario: SeriesScenario.Input? {
        SeriesScenario.Input(
            healthy: "a queue that is empty within seconds, campaigns that are worked off in half of `for`",
            fault: "nothing is sent any more",
            known: 240,
            detectionDeadline: 360
        ) { minutes, onset, random in
            Self.ages(minutes: minutes, self, onset: onset, &random)
        }
    }

    /// Every three hours a campaign, whose last deliveries wait for twice the age that fires.
    private static func ages(minutes: Int, _ condition: Self, onset: Int?, _ random: inout SeededGenerator) -> [AttemptCounts] {
        let above = Int64(condition.above.minutes) * 60
        return (0..<minutes).map { minute in
            if let onset, minute >= onset { return AttemptCounts(attempts: 1, bad: Int64(minute - onset) * 60) }
            let isCampaign = minute % 180 < condition.duration.minutes / 2
            return AttemptCounts(attempts: 1, bad: isCampaign ? 2 * above : Int64.random(in: 0...10, using: &random))
        }
    }
}
