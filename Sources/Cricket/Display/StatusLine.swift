/// The line that describes the state of the match: the feed's text, or ours.
struct StatusLine {
    let score: MatchScore

    init(_ score: MatchScore) { self.score = score }

    var text: String {
        if let status = score.status, !score.phase.isFinal { return status }
        switch score.phase {
        case .scheduled: return "Not started"
        case .ended: return score.result?.sentence ?? "Ended"
        case .abandoned: return score.result?.sentence ?? score.status ?? "Abandoned"
        case .interrupted: return "Play interrupted"
        case .stumps: return score.currentInnings.map { "Stumps: \($0.team) \($0.line)" } ?? "Stumps"
        case .break: return score.currentInnings.flatMap { $0.isClosed ? closedLine : chase($0) } ?? "Break"
        case .live: return score.currentInnings.map { $0.isClosed ? closedLine : chase($0) ?? batting($0) } ?? "Play is about to begin"
        }
    }

    private var closedLine: String {
        guard let last = score.currentInnings else { return "Break" }
        return last.isSuperOver ? "Super over" : "Innings break: \(last.team) \(last.runs)/\(last.wickets)"
    }

    private func batting(_ innings: InningsScore) -> String {
        innings.isSuperOver ? "Super over: \(innings.team) batting" : "\(innings.team) batting"
    }

    private func chase(_ innings: InningsScore) -> String? {
        guard let target = innings.target else { return nil }
        let needed = target.runs - innings.runs
        guard needed > 0 else { return "Target reached" }
        let balls = RunRate.ballsLeft(innings, ballsPerOver: score.ballsInOver)
        return "\(innings.team) need \(needed)" + (balls.map { " from \($0)" } ?? " to win")
    }
}
