import Foundation

extension TrafficDropCondition {
    var seriesScenario: SeriesScenario.Input? {
        // Four times what must be usual at noon, a quarter of it at night.
        let peak = 4 * Double(minUsual) / Double(duration.minutes)
        return SeriesScenario.Input(
            healthy: "days and nights, weekends of a half, campaigns of an hour, days a fifth stronger or weaker",
            fault: "a third of `below` is left of the traffic",
            known: weeks * Self.week + 1440,
            detectionDeadline: 1440,
            group: GroupKey([.app: "com.example.app"])
        ) { minutes, onset, random in
            Self.days(minutes: minutes, peak: peak, left: below.double / 3, onset: onset, &random)
        }
    }

    private static func days(
        minutes: Int,
        peak: Double,
        left: Double,
        onset: Int?,
        _ random: inout SeededGenerator
    ) -> [AttemptCounts] {
        var (level, campaign) = (1.0, 0)
        return (0..<minutes).map { minute in
            let (day, time) = (minute / 1440, minute % 1440)
            if time == 0 {
                level = (day % 7 < 5 ? 1 : 0.5) * random.factor(variation: 0.2)
                campaign = Int.random(in: 480..<1200, using: &random)
            }
            // Highest at noon.
            let curve = 0.625 - 0.375 * cos(2 * Double.pi * Double(time) / 1440)
            let isCampaign = (campaign..<campaign + 60).contains(time)
            let isFaulty = onset.map { minute >= $0 } ?? false
            let rate = peak * level * curve * (isCampaign ? 3 : 1) * (isFaulty ? left : 1)
            return AttemptCounts(attempts: random.arrivals(rate), bad: 0)
        }
    }
}
