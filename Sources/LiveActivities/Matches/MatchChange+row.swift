import Cricket
import PushContract

extension MatchChange {
    /// The display state as it is stored and sent.
    var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension MatchScore {
    /// Play is on, or pauses.
    var isBeingPlayed: Bool { hasStarted && !phase.isFinal }
}

/// The words of the push for events that make a phone be heard.
struct MatchAlert {
    var title: String
    var body: String

    init?(_ change: MatchChange) {
        guard let newKeyEvent = change.newKeyEvent, newKeyEvent.type.urgency == .alert else { return nil }
        title = change.display.title
        body = change.display.key?.text ?? newKeyEvent.text
    }
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
