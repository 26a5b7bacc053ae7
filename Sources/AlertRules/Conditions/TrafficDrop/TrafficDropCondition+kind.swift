extension TrafficDropCondition: Condition {
    var definition: String { "traffic-drop/1" }

    var source: SeriesSource { .attempts }
    var reasons: [String] { [] }
    var threshold: Fraction { below }
    var level: Evidence.Level { .trafficDrop }
    var lookback: Int { weeks * Self.week + Self.shift + longest }

    func summary(_ words: (RuleDuration) -> String) -> String {
        "fewer than \(below.percent) of the usual attempts within \(words(duration))"
    }

    var versionSettings: [String] {
        [
            "for=\(duration.minutes)", "weeks=\(weeks)", "min_usual=\(minUsual)", "resolve_at=\(resolveAt.versionText)",
            "resolve_after=\(resolveAfter.minutes)",
        ]
    }

    /// The same time of each week, which is far less than everything in between.
    func spans(_ first: Minute, _ last: Minute) -> [ClosedRange<Minute>] {
        let own = (first - longest)...last
        guard last - first + longest + 2 * Self.shift < Self.week else { return [] }
        return [own] + (1...weeks).map { (own.lowerBound - ($0 * Self.week + Self.shift))...(last - ($0 * Self.week - Self.shift)) }
    }

    func decision(_ history: GroupHistory, from first: Minute, through last: Minute) -> any Decision {
        TrafficDropDecision(condition: self, series: history.total)
    }
}

extension ConditionKind {
    static let trafficDrop = ConditionKind(key: "traffic_drop") { TrafficDropReader(rule: $0).condition() }
}

extension RuleCondition {
    package static func trafficDrop(_ condition: TrafficDropCondition) -> RuleCondition { RuleCondition(condition) }
    /// Nil for other conditions.
    package var trafficDrop: TrafficDropCondition? { base as? TrafficDropCondition }
}
