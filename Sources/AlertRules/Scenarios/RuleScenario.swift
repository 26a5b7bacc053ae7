/// Synthetic traffic by which a rule is assessed before it pages: the scenarios of the reference (alerting §2.2).
package enum RuleScenario: String, Sendable, Hashable, CaseIterable {
    /// Twenty sends a minute, a fifth of the threshold fails.
    case healthy
    /// The same, and every six hours a minute in which everything fails.
    case blip
    /// The same blips at two sends a minute.
    case quietBlip = "blip, low traffic"
    /// Every day an hour of ten times the sends, of which three times as many fail as usual.
    case campaign
    /// Everything fails, at twenty a minute.
    case outage
    /// Everything fails, at two a minute.
    case quietOutage = "outage, low traffic"
    /// 1.4 times the threshold, at twenty a minute.
    case slight = "slight fault"

    /// Nothing is wrong: any alert is a false alarm.
    package var isHealthy: Bool { [.healthy, .blip, .quietBlip, .campaign].contains(self) }

    private var rate: Double { [.quietBlip, .quietOutage].contains(self) ? 2 : 20 }

    /// Sends of a minute and the share that fails.
    func traffic(at minute: Int, threshold: Double) -> (rate: Double, share: Double) {
        let usual = threshold / 5
        switch self {
        case .healthy: return (rate, usual)
        case .blip, .quietBlip: return (rate, minute % 360 == 200 ? 1 : usual)
        case .campaign: return minute % 1440 < 60 ? (rate * 10, usual * 3) : (rate, usual)
        case .outage, .quietOutage: return (rate, minute < Self.onset ? usual : 1)
        case .slight: return (rate, minute < Self.onset ? usual : min(1, threshold * 1.4))
        }
    }

    /// The minute at which a fault begins.
    static let onset = 120
}

/// How a rule decided about a scenario.
package struct ScenarioResult: Sendable, Hashable {
    package var rule: String
    package var scenario: RuleScenario
    /// Alerts a week in which nothing was wrong.
    package var falseAlarmsPerWeek: Double?
    /// Minutes from the fault to the alert, the median of those that were found; nil when none was.
    package var medianDelay: Int?
    /// Part of the faults that were found in time.
    package var found: Double?
}
