import PushContract

/// Tier 1: events found in single balls.
struct BallEvents {
    let window: BallWindow
    let ballsPerOver: Int
    let thresholds: EventThresholds
    let now: Timestamp

    /// Events of the fresh balls, in the order they were bowled. `window` already has them.
    ///
    /// - Parameter earlier: the window before. A ball that was corrected, in a name for example, has no event that it had there.
    static func of(
        _ fresh: [Ball],
        in window: BallWindow,
        after earlier: BallWindow = BallWindow(),
        ballsPerOver: Int = 6,
        thresholds: EventThresholds = EventThresholds(),
        now: Timestamp
    ) -> [MatchEvent] {
        let detector = BallEvents(window: window, ballsPerOver: ballsPerOver, thresholds: thresholds, now: now)
        let before = BallEvents(window: earlier, ballsPerOver: ballsPerOver, thresholds: thresholds, now: now)
        return fresh.flatMap { ball in
            let known = earlier.balls.first { $0.position == ball.position }.map { before.events(of: $0).map(\.type) } ?? []
            return detector.events(of: ball).filter { !known.contains($0.type) }
        }
    }

    private func events(of ball: Ball) -> [MatchEvent] { boundary(ball) + sixes(ball) + wickets(ball) + endOfOver(ball) }

    private func boundary(_ ball: Ball) -> [MatchEvent] {
        if ball.isSix { return [event(.six, ball, subject: ball.batter, text: "SIX! \(ball.batter) off \(ball.bowler)")] }
        if ball.isFour { return [event(.four, ball, subject: ball.batter, text: "FOUR! \(ball.batter) off \(ball.bowler)")] }
        return []
    }

    /// Three or more balls in a row, by any batter.
    private func sixes(_ ball: Ball) -> [MatchEvent] {
        let until = window.balls.filter { $0.innings == ball.innings && $0.position <= ball.position }
        let run = until.reversed().prefix(while: \.isSix).count
        guard run >= 3 else { return [] }
        return [event(.consecutiveSixes, ball, count: run, text: "\(run) SIXES IN A ROW! \(ball.batter) off \(ball.bowler)")]
    }

    /// Three credited wickets on a bowler's consecutive deliveries, across overs and spells; a fourth is not a second hat-trick.
    private func wickets(_ ball: Ball) -> [MatchEvent] {
        switch window.run(endingAt: ball) {
        case 2: [event(.onHattrick, ball, subject: ball.bowler, text: "\(ball.bowler) is on a hat-trick")]
        case let run where run > 0 && run % 3 == 0: [event(.hattrick, ball, subject: ball.bowler, text: "HAT-TRICK! \(ball.bowler)")]
        default: []
        }
    }

    private func endOfOver(_ ball: Ball) -> [MatchEvent] {
        guard let over = window.over(of: ball), ends(ball, over) else { return [] }
        var events: [MatchEvent] = []
        let isOneBowlers = over.allSatisfy { $0.bowler == ball.bowler }
        if isOneBowlers, over.allSatisfy({ $0.conceded == 0 }) {
            events.append(event(.maiden, ball, subject: ball.bowler, text: "Maiden over by \(ball.bowler)"))
        }
        let runs = over.reduce(0) { $0 + $1.total }
        if runs >= thresholds.bigOverRuns {
            events.append(event(.bigOver, ball, count: runs, text: "\(runs) runs off \(ball.bowler)'s over"))
        }
        return events
    }

    /// By the feed's word, since overs are miscounted at times; else by the count.
    private func ends(_ ball: Ball, _ over: [Ball]) -> Bool {
        ball.endsOver ?? (ball.isLegal && over.count(where: \.isLegal) == ballsPerOver)
    }

    private func event(_ type: MatchEventType, _ ball: Ball, subject: String? = nil, count: Int = 1, text: String) -> MatchEvent {
        MatchEvent(
            type,
            innings: ball.innings,
            subject: subject,
            count: count,
            mark: ball.number,
            ball: ball.label,
            text: text,
            at: now
        )
    }
}
