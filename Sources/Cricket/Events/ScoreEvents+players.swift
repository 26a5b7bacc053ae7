/// Milestones of single players: crossings, never equalities, since a poll may jump over the number itself.
extension ScoreEvents {
    private static let milestones: [(runs: Int, type: MatchEventType, word: String)] = [
        (50, .fifty, "FIFTY!"), (100, .hundred, "HUNDRED!"), (150, .hundredAndFifty, "150!"), (200, .twoHundred, "DOUBLE HUNDRED!"),
    ]

    func batting(_ card: BatterCard, in innings: InningsScore, before: InningsScore?) -> [MatchEvent] {
        let known = before?.batter(card.name)
        guard known != nil || isNew(card, in: innings, before: before) else { return [] }
        let earlier = known?.runs ?? 0
        let line = "\(card.name) \(card.runs) (\(card.balls))"
        var events: [MatchEvent] = []
        for (runs, type, word) in ScoreEvents.milestones where earlier < runs && card.runs >= runs {
            events.append(milestone(type, card.name, in: innings, text: "\(word) \(line)"))
        }
        if earlier < 90, (90..<100).contains(card.runs), card.state == .batting {
            events.append(milestone(.batsmanOn90s, card.name, in: innings, text: "\(line) nears a hundred"))
        }
        if isOnFire(card), card.state == .batting, !(known.map(isOnFire) ?? false) {
            events.append(milestone(.batsmanOnFire, card.name, in: innings, text: "\(line) is on fire"))
        }
        return events
    }

    func bowling(_ card: BowlerCard, in innings: InningsScore, before: InningsScore?) -> [MatchEvent] {
        let known = before?.bowler(card.name)
        // The list may be that of the current bowlers alone. Who is new to it had all wickets before except for those that fell since.
        let fallen = max(0, innings.wickets - (before?.wickets ?? 0))
        let earlier = known?.wickets ?? max(0, card.wickets - fallen)
        let figures = "\(card.wickets)/\(card.runs) (\(card.overs.shortText))"
        var events: [MatchEvent] = []
        if earlier < 5, card.wickets >= 5 {
            events.append(milestone(.fiveFor, card.name, in: innings, text: "FIVE WICKETS! \(card.name) \(figures)"))
        }
        if isOnFire(card), !(known.map(isOnFire) ?? (earlier >= thresholds.fireWickets)) {
            events.append(milestone(.bowlerOnFire, card.name, in: innings, text: "\(card.name) \(figures) is on fire"))
        }
        return events
    }

    /// Whether a batter who was not on the list came in since the last state. Otherwise the list is late, or a name was corrected, and the
    /// runs are older.
    func isNew(_ card: BatterCard, in innings: InningsScore, before: InningsScore?) -> Bool {
        guard let before else { return true }
        guard let known = before.batters else { return false }
        let isLonger = (innings.batters ?? []).count > known.count
        return (isLonger || innings.wickets > before.wickets) && card.runs <= max(0, innings.runs - before.runs)
    }

    private func isOnFire(_ card: BatterCard) -> Bool {
        card.balls >= thresholds.fireBalls && card.runs * 100 >= thresholds.fireStrikeRate * card.balls
    }

    private func isOnFire(_ card: BowlerCard) -> Bool {
        let balls = card.overs.legalBalls(ballsPerOver: after.ballsInOver)
        return card.wickets >= thresholds.fireWickets && balls > 0 && card.runs * 600 <= thresholds.fireEconomy * balls
    }

    private func milestone(_ type: MatchEventType, _ name: String, in innings: InningsScore, text: String) -> MatchEvent {
        MatchEvent(type, innings: innings.number, subject: name, ball: innings.overs.text, text: text, at: now)
    }
}
