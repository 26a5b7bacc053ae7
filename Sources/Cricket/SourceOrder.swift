/// How a state is ordered against the one that is known. Sources have their own sequences and clocks, so only play orders those of two.
package enum SourceOrder: Sendable, Hashable {
    /// Both are from one source.
    case same
    /// From another source.
    case other
    /// From another source, which is used only if play is further in it.
    case further
    /// From another source, and the one that was used until now is silent.
    case replacement
}

extension MatchScore {
    /// Whether this state takes the place of another of the same match.
    func supersedes(_ other: MatchScore, _ order: SourceOrder) -> Bool {
        guard order != .same else { return supersedes(other) }
        let (own, others) = (progress, other.progress)
        guard own == others else { return others.lexicographicallyPrecedes(own) }
        guard order == .other else { return order == .replacement }
        return phase.isFinal != other.phase.isFinal || updatedAt > other.updatedAt || isSame(as: other)
    }

    /// How far play is: what never goes back unless the score is corrected.
    var progress: [Int] {
        let current = currentInnings
        return [
            phase.isFinal ? 1 : 0, hasStarted ? 1 : 0, innings.count, current?.overs.legalBalls(ballsPerOver: ballsInOver) ?? 0,
            current?.wickets ?? 0, current?.runs ?? 0,
        ]
    }

    /// Whether the content is the same but for the balls, which a known state is without.
    package func isSame(as other: MatchScore) -> Bool {
        var (own, others) = (self, other)
        (own.balls, others.balls) = (nil, nil)
        return own.hasSameContent(as: others)
    }
}

extension MatchEventType {
    /// Is seen in the scores of the sides alone. Another source may spell names otherwise, list other players and number balls otherwise.
    var isOfTeams: Bool {
        switch self {
        case .matchStart, .matchEnd, .inningsEnd, .wicket, .targetSet, .interruption, .resume, .stumps, .superOverStart, .scoreChange: true
        default: false
        }
    }
}
