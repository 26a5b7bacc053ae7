import PushContract

extension MatchEvent {
    /// The maximum time for which an event is shown.
    static let boundaryLife: Duration = .seconds(60)

    /// Whether showing it now would be late or wrong: it is over, surpassed, or retracted by a correction.
    func isStale(in score: MatchScore, window: BallWindow, now: Timestamp) -> Bool {
        // Of a closed innings only its end is news.
        if innings > 0, type != .inningsEnd, score.isClosed(innings) { return true }
        switch type {
        case .fifty: return runs(in: score).map { !(50..<100).contains($0) } ?? false
        case .hundred: return runs(in: score).map { !(100..<150).contains($0) } ?? false
        case .hundredAndFifty: return runs(in: score).map { !(150..<200).contains($0) } ?? false
        case .twoHundred: return runs(in: score).map { $0 < 200 } ?? false
        case .batsmanOn90s: return !(90..<100).contains(runs(in: score) ?? 0) || !isBatting(in: score)
        case .newBatsman: return !isBatting(in: score)
        case .fiveFor: return (score.innings(innings)?.bowler(subject ?? "")?.wickets ?? 5) < 5
        case .wicket: return (score.innings(innings)?.wickets ?? 0) < (mark ?? 0)
        case .inningsEnd: return !score.isClosed(innings)
        case .targetSet: return score.innings(innings)?.target?.runs != mark
        case .interruption: return score.phase != .interrupted
        case .stumps: return score.phase != .stumps
        case .matchStart: return !score.phase.isShown
        case .resume: return score.phase != .live
        case .superOverStart: return score.phase.isFinal
        case .onHattrick: return window.last(by: subject ?? "").map { $0.number != mark || window.run(endingAt: $0) != 2 } ?? true
        case .hattrick: return ball(in: window).map { window.run(endingAt: $0) % 3 != 0 || !$0.hasCreditedWicket } ?? false
        case .six: return now - at > MatchEvent.boundaryLife || !(ball(in: window)?.isSix ?? true)
        case .four: return now - at > MatchEvent.boundaryLife || !(ball(in: window)?.isFour ?? true)
        case .consecutiveSixes: return now - at > MatchEvent.boundaryLife || !(ball(in: window)?.isSix ?? true)
        case .matchEnd: return !score.phase.isFinal
        case .maiden, .bigOver, .batsmanOnFire, .bowlerOnFire, .scoreChange: return false
        }
    }

    private func runs(in score: MatchScore) -> Int? { score.innings(innings)?.batter(subject ?? "")?.runs }

    private func isBatting(in score: MatchScore) -> Bool { score.innings(innings)?.batter(subject ?? "")?.state == .batting }

    private func ball(in window: BallWindow) -> Ball? { window.balls.first { $0.innings == innings && $0.number == mark } }
}
