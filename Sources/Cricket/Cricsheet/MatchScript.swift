/// A match file as a series of deliveries, ready to be played: numbered, with the ends of overs known.
package struct MatchScript: Sendable {
    package struct Innings: Sendable {
        package var number: Int
        package var team: Int
        package var target: InningsScore.Target?
        var isSuperOver: Bool
        var isDeclared: Bool
        var penaltyBefore: Int
        var penaltyAfter: Int
        var bowledBalls: [BowledBall]
        /// It came to its end (and was not broken off with the match).
        package var isComplete: Bool
    }

    package struct BowledBall: Sendable, Hashable {
        package var ball: Ball
        var nonStriker: String
        var overEnds: Bool
        /// `c Rao b Lindqvist` for each wicket of the ball.
        package var dismissals: [String]
    }

    package var teams: [MatchScore.Team]
    package var event: String?
    package var ballsPerOver: Int
    package var innings: [Innings]
    package var result: MatchResult

    package init(_ match: CricsheetMatch) {
        let shorts = TeamName.shorts(match.info.teams)
        teams = zip(match.info.teams, shorts).map { MatchScore.Team(name: $0, short: $1) }
        event = match.info.eventTitle
        ballsPerOver = match.info.ballsPerOver ?? 6
        result = match.info.outcome.result(teams: match.info.teams, shorts: shorts)
        let played = match.innings.filter { $0.forfeited != true || $0.overs?.isEmpty == false }
        innings = []
        for (index, source) in played.enumerated() {
            let isLast = index == played.count - 1
            innings.append(
                Innings(
                    source,
                    number: index + 1,
                    in: match,
                    target: MatchScript.target(of: source, after: innings, in: match),
                    isLast: isLast
                )
            )
        }
    }

    /// The file's own; else what a chase must reach where the format says so.
    private static func target(
        of source: CricsheetMatch.Innings,
        after earlier: [Innings],
        in match: CricsheetMatch
    ) -> InningsScore.Target? {
        if let target = source.target { return InningsScore.Target(runs: target.runs, overs: target.overs) }
        guard let last = earlier.last else { return nil }
        if source.superOver == true {
            // Innings of super overs come in pairs.
            guard last.isSuperOver, earlier.count(where: \.isSuperOver) % 2 == 1 else { return nil }
            return InningsScore.Target(runs: last.total + 1, overs: Overs(completed: 1))
        }
        guard let limit = match.info.overs, earlier.count == 1 else { return nil }
        return InningsScore.Target(runs: last.total + 1, overs: Overs(completed: limit))
    }
}

extension MatchScript.Innings {
    /// Deliveries and penalty runs.
    package var total: Int { penaltyBefore + penaltyAfter + bowledBalls.reduce(0) { $0 + $1.ball.total } }
    package var wickets: Int { bowledBalls.reduce(0) { $0 + $1.ball.countedWickets } }

    fileprivate init(
        _ source: CricsheetMatch.Innings,
        number: Int,
        in match: CricsheetMatch,
        target: InningsScore.Target?,
        isLast: Bool
    ) {
        self.number = number
        team = match.info.teams.firstIndex(of: source.team) ?? 0
        self.target = target
        isSuperOver = source.superOver ?? false
        isDeclared = source.declared ?? false
        penaltyBefore = source.penaltyRuns?.pre ?? 0
        penaltyAfter = source.penaltyRuns?.post ?? 0
        let isBrokenOff = isLast && ["no result", "draw"].contains(match.info.outcome.result)
        isComplete = true
        bowledBalls = []
        for over in source.overs ?? [] {
            append(
                over,
                ballsInOver: source.miscountedOvers?["\(over.over)"]?.balls ?? match.info.ballsPerOver ?? 6,
                isLast: over.over == source.overs?.last?.over
            )
        }
        if isBrokenOff { isComplete = hasReachedItsEnd(limit: match.info.overs) }
    }

    /// All out, out of overs, or at the target.
    private func hasReachedItsEnd(limit: Int?) -> Bool {
        if wickets >= 10 || target.map({ total >= $0.runs }) ?? false { return true }
        guard let limit = target?.overs?.completed ?? limit, let last = bowledBalls.last else { return false }
        return last.overEnds && last.ball.over + 1 >= limit
    }

    private mutating func append(_ over: CricsheetMatch.Over, ballsInOver: Int, isLast: Bool) {
        var legal = 0
        for (index, source) in over.deliveries.enumerated() {
            var ball = Ball(source, innings: number, number: bowledBalls.count + 1, over: over.over, ball: legal + 1)
            if ball.isLegal { legal += 1 }
            // An over that others follow has ended with its last delivery, whatever the count was.
            let isLastOfOver = index == over.deliveries.count - 1
            let ends = isLastOfOver && (!isLast || legal >= ballsInOver)
            ball.endsOver = ends
            bowledBalls.append(
                MatchScript.BowledBall(
                    ball: ball,
                    nonStriker: source.nonStriker,
                    overEnds: ends,
                    dismissals: (source.wickets ?? []).map { $0.words(bowler: source.bowler) }
                )
            )
        }
    }
}

extension Ball {
    fileprivate init(_ source: CricsheetMatch.BowledBall, innings: Int, number: Int, over: Int, ball: Int) {
        self.init(innings: innings, number: number, over: over, ball: ball, batter: source.batter, bowler: source.bowler)
        runs = source.runs.batter
        extras = source.extras.map {
            Extras(wides: $0.wides ?? 0, noBalls: $0.noballs ?? 0, byes: $0.byes ?? 0, legByes: $0.legbyes ?? 0, penalty: $0.penalty ?? 0)
        }
        nonBoundary = source.runs.nonBoundary
        wickets = source.wickets?.map { Wicket(player: $0.playerOut, kind: $0.kind) }
    }
}
