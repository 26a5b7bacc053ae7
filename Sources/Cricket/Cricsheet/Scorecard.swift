/// The score of one innings as deliveries add to it.
struct Scorecard {
    private let script: MatchScript.Innings
    private let ballsPerOver: Int
    private(set) var score: InningsScore
    private var batters: [String: BatterCard] = [:]
    private var batterOrder: [String] = []
    private var bowlers: [String: Figures] = [:]
    private var bowlerOrder: [String] = []
    private var overConceded = 0
    private var overBowlers: Set<String> = []
    private var pair: [String] = []
    private var striker: String?
    private var currentBowler: String?
    private(set) var played = 0

    private struct Figures {
        var legal = 0
        var runs = 0
        var wickets = 0
        var maidens = 0
    }

    init(_ script: MatchScript.Innings, team: String, ballsPerOver: Int) {
        self.script = script
        self.ballsPerOver = ballsPerOver
        score = InningsScore(number: script.number, team: team)
        score.runs = script.penaltyBefore
        score.superOver = script.isSuperOver ? true : nil
        score.target = script.target
    }

    mutating func play(_ bowledBall: MatchScript.BowledBall) {
        let ball = bowledBall.ball
        played += 1
        score.runs += ball.total
        score.wickets += ball.countedWickets
        bat(bowledBall)
        bowl(bowledBall)
        let legal = ball.isLegal ? ball.ball : ball.ball - 1
        score.overs = bowledBall.overEnds ? Overs(completed: ball.over + 1) : Overs(completed: ball.over, balls: legal)
    }

    private mutating func bat(_ bowledBall: MatchScript.BowledBall) {
        let ball = bowledBall.ball
        for name in [ball.batter, bowledBall.nonStriker] { arrive(name) }
        pair = [ball.batter, bowledBall.nonStriker]
        if var card = batters[ball.batter] {
            card.runs += ball.runs
            if (ball.extras?.wides ?? 0) == 0 { card.balls += 1 }
            if ball.isFour { card.fours = (card.fours ?? 0) + 1 }
            if ball.isSix { card.sixes = (card.sixes ?? 0) + 1 }
            batters[ball.batter] = card
        }
        for (wicket, words) in zip(ball.wickets ?? [], bowledBall.dismissals) {
            arrive(wicket.player)
            batters[wicket.player]?.state = wicket.kind.countsAsWicket ? .out : .retired
            batters[wicket.player]?.dismissal = words
            pair.removeAll { $0 == wicket.player }
        }
        striker = nextStriker(after: bowledBall)
    }

    /// Batters change ends with odd runs run, and when the over ends.
    private func nextStriker(after bowledBall: MatchScript.BowledBall) -> String? {
        let ball = bowledBall.ball
        let extras = ball.extras ?? Ball.Extras()
        let run = ball.runs + extras.byes + extras.legByes + max(0, extras.wides - 1)
        let crossed = (run % 2 == 1) != bowledBall.overEnds
        let next = crossed ? bowledBall.nonStriker : ball.batter
        return pair.contains(next) ? next : nil
    }

    private mutating func arrive(_ name: String) {
        if batters[name] == nil {
            batters[name] = BatterCard(name: name)
            batterOrder.append(name)
        }
        if batters[name]?.state == .retired {
            batters[name]?.state = .batting
            batters[name]?.dismissal = nil
        }
    }

    private mutating func bowl(_ bowledBall: MatchScript.BowledBall) {
        let ball = bowledBall.ball
        if bowlers[ball.bowler] == nil { bowlerOrder.append(ball.bowler) }
        var figures = bowlers[ball.bowler] ?? Figures()
        if ball.isLegal { figures.legal += 1 }
        figures.runs += ball.conceded
        if ball.hasCreditedWicket { figures.wickets += 1 }
        overConceded += ball.conceded
        overBowlers.insert(ball.bowler)
        if bowledBall.overEnds {
            if overConceded == 0, overBowlers.count == 1 { figures.maidens += 1 }
            overConceded = 0
            overBowlers = []
        }
        bowlers[ball.bowler] = figures
        currentBowler = ball.bowler
    }

    /// The last delivery has been bowled.
    mutating func close() {
        score.closed = true
        if script.isDeclared { score.declared = true }
        score.runs += script.penaltyAfter
    }

    /// With both cards.
    func snapshot() -> InningsScore {
        var score = score
        score.batters = batterOrder.compactMap { name in
            guard var card = batters[name] else { return nil }
            if card.state == .batting, score.isClosed || !pair.contains(name) { card.state = .notOut }
            if card.state == .batting, name == striker { card.onStrike = true }
            return card
        }
        score.bowlers = bowlerOrder.compactMap { name in
            guard let figures = bowlers[name] else { return nil }
            return BowlerCard(
                name: name,
                overs: Overs(legalBalls: figures.legal, ballsPerOver: ballsPerOver),
                maidens: figures.maidens,
                runs: figures.runs,
                wickets: figures.wickets,
                bowling: name == currentBowler && !score.isClosed ? true : nil
            )
        }
        return score
    }
}
