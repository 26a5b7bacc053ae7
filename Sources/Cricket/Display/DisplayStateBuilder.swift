import PushContract

/// Makes the state every follower of a match sees. The server formats; a phone only shows.
struct DisplayStateBuilder {
    let score: MatchScore
    let window: BallWindow
    let key: MatchEvent?
    let tier: Int

    init(score: MatchScore, window: BallWindow = BallWindow(), key: MatchEvent? = nil, tier: Int = 0) {
        self.score = score
        self.window = window
        self.key = key
        self.tier = tier
    }

    /// Within the size budget; `seq` and `updatedAt` are the caller's.
    func state() -> UnifiedDisplayState {
        let current = score.currentInnings
        let isPlaying = !score.phase.isFinal && !(current?.isClosed ?? true)
        let full = UnifiedDisplayState(
            matchId: score.matchId,
            seq: 0,
            phase: score.phase.rawValue,
            title: score.displayTitle,
            event: score.event,
            status: StatusLine(score).text,
            innings: score.innings.map(innings),
            batters: isPlaying ? batters(current) : [],
            bowler: isPlaying ? bowler(current) : nil,
            recent: isPlaying ? recent(current) : [],
            crr: isPlaying ? RunRate.current(current, ballsPerOver: score.ballsInOver) : nil,
            rrr: isPlaying ? RunRate.required(current, ballsPerOver: score.ballsInOver) : nil,
            key: key.map(displayed),
            tier: tier,
            updatedAt: 0
        )
        return DisplayBudget.shrink(full)
    }

    private func innings(_ innings: InningsScore) -> UnifiedDisplayState.Innings {
        UnifiedDisplayState.Innings(
            no: innings.number,
            team: innings.team,
            runs: innings.runs,
            wickets: innings.wickets,
            overs: innings.overs.text,
            target: innings.target?.runs,
            closed: score.isClosed(innings.number) ? true : nil,
            superOver: innings.isSuperOver ? true : nil
        )
    }

    private func batters(_ innings: InningsScore?) -> [UnifiedDisplayState.Batter] {
        (innings?.batters ?? []).filter { $0.state == .batting }.map {
            UnifiedDisplayState.Batter(name: $0.name, line: "\($0.runs) (\($0.balls))", strike: $0.onStrike == true ? true : nil)
        }
    }

    private func bowler(_ innings: InningsScore?) -> UnifiedDisplayState.Bowler? {
        innings?.bowlers?.first { $0.bowling == true }.map {
            UnifiedDisplayState.Bowler(name: $0.name, line: "\($0.overs.shortText)-\($0.maidens ?? 0)-\($0.runs)-\($0.wickets)")
        }
    }

    private func recent(_ innings: InningsScore?) -> [String] {
        window.balls.filter { $0.innings == innings?.number }.suffix(6).map(\.symbol)
    }

    private func displayed(_ event: MatchEvent) -> UnifiedDisplayState.Key {
        UnifiedDisplayState.Key(type: event.type.rawValue, priority: event.type.priority, text: event.text, ball: event.ball)
    }
}
