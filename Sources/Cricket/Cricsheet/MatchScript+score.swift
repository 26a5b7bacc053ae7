import PushContract

extension MatchScript {
    /// How far a match has been played.
    package struct Position: Sendable, Hashable {
        /// Innings begun; 0 before the first.
        package var innings: Int
        /// Deliveries of the last begun innings that have been bowled.
        var bowledBalls: Int
        package var phase: MatchPhase

        package init(innings: Int, bowledBalls: Int, phase: MatchPhase) {
            self.innings = innings
            self.bowledBalls = bowledBalls
            self.phase = phase
        }
    }

    /// The state of the match there: a pure function.
    ///
    /// - Parameters:
    ///   - withBalls: the last 30 deliveries too, for feeds that know them.
    ///   - change: what the feed got wrong about single deliveries.
    package func score(
        matchId: String,
        at position: Position,
        withBalls: Bool,
        change: (BowledBall) -> BowledBall = { $0 }
    ) -> MatchScore {
        var score = MatchScore(matchId: matchId, updatedAt: Timestamp(seconds: 0), teams: teams, phase: position.phase)
        score.event = event
        score.ballsPerOver = ballsPerOver
        if position.phase.isFinal { score.result = result }
        var balls: [Ball] = []
        for innings in innings.prefix(position.innings) {
            let isCurrent = innings.number == position.innings
            let bowled = innings.bowledBalls.prefix(isCurrent ? position.bowledBalls : innings.bowledBalls.count).map(change)
            var card = Scorecard(innings, team: teams[innings.team].short, ballsPerOver: ballsPerOver)
            for bowledBall in bowled { card.play(bowledBall) }
            let isOver = bowled.count == innings.bowledBalls.count && innings.isComplete
            if isOver { card.close() }
            score.innings.append(card.snapshot())
            if withBalls { balls = Array((balls + bowled.map(\.ball)).suffix(30)) }
        }
        if withBalls { score.balls = balls }
        return score
    }

    /// The end of the match.
    var finalPosition: Position {
        Position(
            innings: innings.count,
            bowledBalls: innings.last?.bowledBalls.count ?? 0,
            phase: result.outcome == .noResult ? .abandoned : .ended
        )
    }
}
