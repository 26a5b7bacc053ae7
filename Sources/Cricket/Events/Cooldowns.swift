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
        guard !silent.isEmpty else { return nil }
        for key in silent { until[key] = expiry }
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

    /// Removes the events that a correction retracted, so that they are reported if they happen later.
    package mutating func forget(retractedBy after: MatchScore, from before: MatchScore?) {
        for innings in before?.innings ?? [] {
            let now = after.innings(innings.number)?.wickets ?? 0
            guard now < innings.wickets else { continue }
            for number in now + 1...innings.wickets { until[Cooldowns.wicket(number, innings: innings.number)] = nil }
        }
        if let before, before.hasStarted, !after.hasStarted { until["\(MatchEventType.matchStart.rawValue)/0"] = nil }
        if let before, before.phase.isFinal, !after.phase.isFinal { until["\(MatchEventType.matchEnd.rawValue)/0"] = nil }
    }
}
