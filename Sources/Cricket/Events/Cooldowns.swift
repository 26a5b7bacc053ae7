package import PushContract

/// Until when which event stays silent: event, subject and innings → expiry in epoch seconds.
package struct Cooldowns: Sendable, Hashable, Codable {
    package private(set) var until: [String: Int64]

    package init(until: [String: Int64] = [:]) { self.until = until }

    package init(from decoder: any Decoder) throws {
        until = try decoder.singleValueContainer().decode([String: Int64].self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(until)
    }

    /// Returns the events that are not in cooldown, and starts their cooldown; several wickets at once are reduced to the new ones.
    package mutating func admit(_ events: [MatchEvent], now: Timestamp) -> [MatchEvent] {
        until = until.filter { $0.value > now.seconds }
        return events.compactMap { admit($0, now: now) }
    }

    private mutating func admit(_ event: MatchEvent, now: Timestamp) -> MatchEvent? {
        guard let cooldown = event.type.cooldown else { return event }
        let expiry = now.advanced(by: cooldown).seconds
        let eventKeys = keys(of: event)
        let silent = eventKeys.filter { until[$0] == nil }
        // A wicket that is seen again has fallen: its cooldown, which a correction may have shortened, begins anew.
        for key in event.type == .wicket ? eventKeys : silent { until[key] = expiry }
        guard !silent.isEmpty else { return nil }
        var event = event
        if event.type == .wicket { event.count = silent.count }
        return event
    }

    /// A wicket has its own number as its key; two in one step have two.
    private func keys(of event: MatchEvent) -> [String] {
        guard event.type == .wicket, let last = event.mark else { return [event.cooldownKey] }
        return (last - event.count + 1...last).map { Cooldowns.wicket($0, innings: event.innings) }
    }

    private static func wicket(_ number: Int, innings: Int) -> String { "\(MatchEventType.wicket.rawValue)/\(innings)/\(number)" }

    /// How long wickets stay silent that a score from further back is without: by then a feed has put such a state right.
    private static let uncertainFor = Duration.seconds(120)

    /// Removes the events that a correction retracted, so that they are reported if they happen later.
    ///
    /// A correction takes back a ball or two. A state that lacks an innings is incomplete and retracts nothing of it. One that is more than
    /// an over behind may be an old or an empty one, which the next state puts right, or the correction of a score that was never true.
    package mutating func forget(retractedBy after: MatchScore, from before: MatchScore?, now: Timestamp) {
        for innings in before?.innings ?? [] {
            guard let corrected = after.innings(innings.number), corrected.wickets < innings.wickets else { continue }
            let ballsInOver = after.ballsInOver
            let isBehind =
                innings.overs.legalBalls(ballsPerOver: ballsInOver) > corrected.overs.legalBalls(ballsPerOver: ballsInOver) + ballsInOver
            for number in corrected.wickets + 1...innings.wickets {
                let key = Cooldowns.wicket(number, innings: innings.number)
                until[key] = isBehind ? until[key].map { min($0, now.advanced(by: Cooldowns.uncertainFor).seconds) } : nil
            }
        }
        if let before, before.hasStarted, !after.hasStarted { until["\(MatchEventType.matchStart.rawValue)/0"] = nil }
        if let before, before.phase.isFinal, !after.phase.isFinal { until["\(MatchEventType.matchEnd.rawValue)/0"] = nil }
    }
}
