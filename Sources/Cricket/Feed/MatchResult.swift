import ServiceKit

/// How a match came out.
package struct MatchResult: Sendable, Hashable, Encodable {
    package enum Outcome: String, Sendable, Hashable, Codable, CaseIterable {
        case win, tie, draw
        case noResult
        case awarded
    }

    /// The margin of a win: one of the three, or innings and runs together.
    package struct Margin: Sendable, Hashable, Encodable {
        package var runs: Int?
        package var wickets: Int?
        package var innings: Int?

        package init(runs: Int? = nil, wickets: Int? = nil, innings: Int? = nil) {
            self.runs = runs
            self.wickets = wickets
            self.innings = innings
        }
    }

    package var outcome: Outcome
    /// Short name of the winner; of the super over's winner after a tie.
    package var winner: String?
    package var by: Margin?
    /// `D/L` and the like.
    package var method: String?
    /// The sentence to show; made from the rest when it is left out.
    package var text: String?

    /// `RR won by 7 runs (D/L)`.
    package var sentence: String {
        if let text { return text }
        let suffix = method.map { " (\($0))" } ?? ""
        switch outcome {
        case .win: return "\(winner ?? "?") won\(by?.words ?? "")\(suffix)"
        case .awarded: return "\(winner ?? "?") won, awarded\(suffix)"
        case .tie: return winner.map { "Match tied, \($0) won the tie-break" } ?? "Match tied\(suffix)"
        case .draw: return "Match drawn"
        case .noResult: return "No result"
        }
    }
}

extension MatchResult.Margin {
    fileprivate var words: String {
        let runs = runs.map { "\($0) run\($0 == 1 ? "" : "s")" }
        if innings != nil { return " by an innings" + (runs.map { " and \($0)" } ?? "") }
        if let runs { return " by \(runs)" }
        if let wickets { return " by \(wickets) wicket\(wickets == 1 ? "" : "s")" }
        return ""
    }
}

extension MatchResult: FeedValue {
    init(_ json: JSONValue, at pointer: String) throws(FeedError) {
        var fields = try StrictFields(json, at: pointer)
        outcome = try fields.choice("outcome", of: Outcome.self)
        winner = try fields.text("winner", 1...12)
        by = try fields.optional("by")
        method = try fields.text("method", 1...50)
        text = try fields.text("text", 1...200)
        try fields.finish()
        guard (outcome == .win || outcome == .awarded) ? winner != nil : (outcome == .tie || winner == nil) else {
            throw fields.fault("winner", "A win has a \"winner\"; a draw and a match without result have none.")
        }
    }
}

extension MatchResult.Margin: FeedValue {
    init(_ json: JSONValue, at pointer: String) throws(FeedError) {
        var fields = try StrictFields(json, at: pointer)
        runs = try fields.number("runs", 0...5_000)
        wickets = try fields.number("wickets", 0...30)
        innings = try fields.number("innings", 1...1)
        try fields.finish()
    }
}
