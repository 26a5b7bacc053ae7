extension FeedSilentCondition {
    var seriesScenario: SeriesScenario.Input? {
        SeriesScenario.Input(
            healthy: "a feed that every hour confirms nothing for half of `for`",
            fault: "the feed answers no more",
            known: 240,
            detectionDeadline: 360,
            group: GroupKey([.feed: "https://feed.example/matches"])
        ) { minutes, onset, random in
            (0..<minutes).map { minute in
                let isSilent = onset.map { minute >= $0 } ?? false || minute % 60 < duration.minutes / 2
                return AttemptCounts(attempts: 1, bad: isSilent ? above + Int64.random(in: 1...500, using: &random) : 0)
            }
        }
    }
}
