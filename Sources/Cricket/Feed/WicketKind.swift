/// How a batter's innings ended or paused, in the words of the Cricsheet format.
package enum WicketKind: String, Sendable, Hashable, Codable, CaseIterable {
    case bowled, caught, lbw, stumped
    case caughtAndBowled = "caught and bowled"
    case hitWicket = "hit wicket"
    case runOut = "run out"
    case retiredHurt = "retired hurt"
    case retiredNotOut = "retired not out"
    case retiredOut = "retired out"
    case obstructingTheField = "obstructing the field"
    case handledTheBall = "handled the ball"
    case hitTheBallTwice = "hit the ball twice"
    case timedOut = "timed out"

    /// Whether the team has lost a wicket: those who retire hurt may come back.
    var countsAsWicket: Bool { self != .retiredHurt && self != .retiredNotOut }

    /// Whether the wicket is the bowler's.
    var isCreditedToBowler: Bool {
        switch self {
        case .bowled, .caught, .lbw, .stumped, .caughtAndBowled, .hitWicket: true
        default: false
        }
    }
}
