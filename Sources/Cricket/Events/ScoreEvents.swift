import PushContract

/// Tier 0: what happened between two states of the score, for any number of balls between them.
///
/// The first state of a match has no history: it yields at most the start of play.
struct ScoreEvents {
    let before: MatchScore?
    let after: MatchScore
    let thresholds: EventThresholds
    let now: Timestamp

    static func between(
        _ before: MatchScore?,
        and after: MatchScore,
        thresholds: EventThresholds = EventThresholds(),
        now: Timestamp
    ) -> [MatchEvent] {
        ScoreEvents(before: before, after: after, thresholds: thresholds, now: now).all()
    }

    private func all() -> [MatchEvent] {
        guard let before else {
            let isOn = after.phase.isShown
            return isOn ? [event(.matchStart, text: "Play is on: \(after.displayTitle)")] : []
        }
        var events = matchEvents(before)
        for innings in after.innings { events += inningsEvents(innings, before: before.innings(innings.number)) }
        if scores(before) != scores(after) {
            events.append(event(.scoreChange, text: after.currentInnings.map { "\($0.team) \($0.line)" } ?? ""))
        }
        return events
    }

    private func scores(_ score: MatchScore) -> [String] { score.innings.map { "\($0.number) \($0.team) \($0.line)" } }

    private func event(
        _ type: MatchEventType,
        innings: InningsScore? = nil,
        subject: String? = nil,
        count: Int = 1,
        mark: Int? = nil,
        text: String
    ) -> MatchEvent {
        MatchEvent(
            type,
            innings: innings?.number ?? 0,
            subject: subject,
            count: count,
            mark: mark,
            ball: innings?.overs.text,
            text: text,
            at: now
        )
    }
}

extension ScoreEvents {
    /// Start, end, interruption, resumption: changes of the phase.
    private func matchEvents(_ before: MatchScore) -> [MatchEvent] {
        var events: [MatchEvent] = []
        if !before.hasStarted, after.hasStarted, !after.phase.isFinal {
            events.append(event(.matchStart, text: "Play is on: \(after.displayTitle)"))
        }
        if !before.phase.isFinal, after.phase.isFinal {
            events.append(event(.matchEnd, text: StatusLine(after).text))
        }
        if before.phase != .interrupted, after.phase == .interrupted {
            events.append(event(.interruption, text: after.status ?? "Play interrupted"))
        }
        if before.phase != .stumps, after.phase == .stumps { events.append(event(.stumps, text: StatusLine(after).text)) }
        if [.interrupted, .stumps].contains(before.phase), after.phase == .live {
            events.append(event(.resume, text: "Play resumes"))
        }
        return events
    }

    private func inningsEvents(_ innings: InningsScore, before: InningsScore?) -> [MatchEvent] {
        var events = beginning(of: innings, isNew: before == nil)
        if let target = innings.target, target.runs != before?.target?.runs {
            let overs = target.overs.map { " from \($0.shortText) overs" } ?? ""
            events.append(
                event(.targetSet, innings: innings, mark: target.runs, text: "\(innings.team) need \(target.runs) to win\(overs)")
            )
        }
        events += wickets(innings, before: before)
        for card in innings.batters ?? [] { events += batting(card, in: innings, before: before) }
        for card in innings.bowlers ?? [] { events += bowling(card, in: innings, before: before) }
        return events + newBatters(innings, before: before) + end(of: innings)
    }

    /// Super overs come in pairs of innings; the first of a pair begins one.
    private func beginning(of innings: InningsScore, isNew: Bool) -> [MatchEvent] {
        let earlier = after.innings.filter { $0.isSuperOver && $0.number < innings.number }.count
        guard isNew, innings.isSuperOver, earlier % 2 == 0 else { return [] }
        return [event(.superOverStart, innings: innings, text: "Super over: \(innings.team) bat first")]
    }

    private func end(of innings: InningsScore) -> [MatchEvent] {
        guard after.isClosed(innings.number), !(before?.isClosed(innings.number) ?? false) else { return [] }
        let how = innings.declared == true ? "declared" : innings.isSuperOver ? "end of the super over" : "innings closed"
        return [event(.inningsEnd, innings: innings, subject: innings.team, text: "\(innings.team) \(innings.line), \(how)")]
    }

    private func wickets(_ innings: InningsScore, before: InningsScore?) -> [MatchEvent] {
        let fallen = innings.wickets - (before?.wickets ?? 0)
        guard fallen > 0 else { return [] }
        let counted = event(.wicket, innings: innings, count: fallen, mark: innings.wickets, text: "")
        return [ScoreEvents.withText(counted, from: self.before, to: after)]
    }

    /// A wicket event with the text for its count: fewer than fell between the states if others of them are known.
    static func withText(_ event: MatchEvent, from before: MatchScore?, to after: MatchScore) -> MatchEvent {
        guard let innings = after.innings(event.innings) else { return event }
        let wasOut = Set((before?.innings(event.innings)?.batters ?? []).filter { $0.state == .out }.map(\.name))
        let out = (innings.batters ?? []).filter { $0.state == .out && !wasOut.contains($0.name) }
        let names = out.map { card in card.dismissal.map { "\(card.name) \($0)" } ?? card.name }.joined(separator: "; ")
        let what = event.count == 1 ? "WICKET!" : "\(event.count) WICKETS!"
        var event = event
        // More names than wickets: the list is late, or a name in it was corrected.
        event.text = names.isEmpty || out.count > event.count ? "\(what) \(innings.team) \(innings.line)" : "\(what) \(names)"
        return event
    }

    /// Those at the crease who were not on the card; the two who open are the innings itself.
    private func newBatters(_ innings: InningsScore, before: InningsScore?) -> [MatchEvent] {
        guard let known = before?.batters, known.count >= 2 else { return [] }
        let names = Set(known.map(\.name))
        return (innings.batters ?? [])
            .filter { $0.state == .batting && !names.contains($0.name) && isNew($0, in: innings, before: before) }
            .map { event(.newBatsman, innings: innings, subject: $0.name, text: "\($0.name) comes in") }
    }
}
