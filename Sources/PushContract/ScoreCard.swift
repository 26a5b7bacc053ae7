/// What a widget shows of a match, as the strings to draw: every layout shows the same, and it can be tested without a phone. The server
/// formats all texts; this only places them. A SwiftUI view has one `Text` for each.
public struct ScoreCard: Sendable, Hashable {
    /// `RR v KKR`.
    public var title: String
    /// The competition.
    public var event: String?
    /// The event that the state shows (`WICKET! …`); nil if there is none.
    public var headline: String?
    /// `KKR need 40 from 24`.
    public var status: String
    /// One line for each innings in the order of play: `RR 217/5 (20.0)`, `KKR 58 (8.2)` when all out. Those of a super over are marked.
    public var innings: [String]
    /// The two at the crease, the one on strike marked: `SS Iyer* 85 (50)`.
    public var batters: [String]
    /// Who bowls: `YS Chahal 3-0-38-1`.
    public var bowler: String?
    /// The last deliveries: `1 4 W · 2 6`; nil when the feed knows scores only.
    public var recent: String?
    /// `CRR 11.13`, `RRR 10.00`, or both.
    public var rates: String?
    /// Whether the match is over: the card leaves the screen soon.
    public var isOver: Bool

    /// Makes the card of a state.
    public init(_ state: UnifiedDisplayState) {
        title = state.title
        event = state.event
        headline = state.key?.text
        status = state.status
        innings = state.innings.map { innings in
            let score = innings.wickets >= 10 ? "\(innings.runs)" : "\(innings.runs)/\(innings.wickets)"
            return "\(innings.team) \(score) (\(innings.overs))" + (innings.superOver == true ? " super over" : "")
        }
        batters = state.batters.map { "\($0.name)\($0.strike == true ? "*" : "") \($0.line)" }
        bowler = state.bowler.map { "\($0.name) \($0.line)" }
        recent = state.recent.isEmpty ? nil : state.recent.joined(separator: " ")
        let rates = [state.crr.map { "CRR \($0)" }, state.rrr.map { "RRR \($0)" }].compactMap(\.self)
        self.rates = rates.isEmpty ? nil : rates.joined(separator: "  ")
        isOver = state.phase == "ended" || state.phase == "abandoned"
    }
}
