import Cricket
import PushContract

extension MatchChange {
    /// The display state as it is stored and sent.
    var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension MatchScore {
    /// Play is on, or pauses.
    var isBeingPlayed: Bool { hasStarted && !phase.isFinal }
    var startPriority: Int16 { priority.map { Int16($0) } ?? StartOrder.usualPriority }
}

/// `activeMatches.previousScores`: the last known score of each innings, by its number (seed 003).
enum PreviousScores {
    struct Innings: Codable {
        var team: String
        var runs: Int
        var wickets: Int
        var overs: String
    }

    static func of(_ score: MatchScore) -> [String: Innings] {
        Dictionary(
            score.innings.map { ("\($0.number)", Innings(team: $0.team, runs: $0.runs, wickets: $0.wickets, overs: $0.overs.text)) },
            uniquingKeysWith: { $1 }
        )
    }
}
