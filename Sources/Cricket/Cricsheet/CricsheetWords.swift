extension CricsheetMatch.Wicket {
    /// As on a score card: `c Rao b Lindqvist`, `run out (Rao)`.
    func words(bowler: String) -> String {
        let names = (fielders ?? []).compactMap(\.name)
        let fielder = names.first ?? "sub"
        switch kind {
        case .bowled: return "b \(bowler)"
        case .caught: return "c \(fielder) b \(bowler)"
        case .caughtAndBowled: return "c & b \(bowler)"
        case .lbw: return "lbw b \(bowler)"
        case .stumped: return "st \(fielder) b \(bowler)"
        case .hitWicket: return "hit wicket b \(bowler)"
        case .runOut: return names.isEmpty ? "run out" : "run out (\(names.joined(separator: "/")))"
        default: return kind.rawValue
        }
    }
}

extension CricsheetMatch.Info {
    /// `Harbour Cup · Match 4`, `Harbour Cup · Final`.
    var eventTitle: String? {
        guard let name = event?.name else { return nil }
        if let stage = event?.stage { return "\(name) · \(stage)" }
        return event?.matchNumber.map { "\(name) · Match \($0)" } ?? name
    }
}

extension CricsheetMatch.Outcome {
    /// The result with the teams' short names.
    func result(teams: [String], shorts: [String]) -> MatchResult {
        let named = (winner ?? eliminator ?? bowlOut).flatMap { name in teams.firstIndex(of: name).map { shorts[$0] } }
        let margin = by.map { MatchResult.Margin(runs: $0.runs, wickets: $0.wickets, innings: $0.innings.map { _ in 1 }) }
        switch result {
        case "tie": return MatchResult(outcome: .tie, winner: named, method: method, text: tieText(named))
        case "draw": return MatchResult(outcome: .draw)
        case "no result": return MatchResult(outcome: .noResult)
        default:
            guard let named else { return MatchResult(outcome: .noResult) }
            let isAwarded = method == "Awarded"
            return MatchResult(outcome: isAwarded ? .awarded : .win, winner: named, by: margin, method: isAwarded ? nil : method)
        }
    }

    private func tieText(_ winner: String?) -> String? {
        guard let winner else { return nil }
        return "Match tied, \(winner) won the \(eliminator == nil ? "bowl-out" : "super over")"
    }
}
