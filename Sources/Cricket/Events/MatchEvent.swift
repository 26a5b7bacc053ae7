package import PushContract

/// One event of a match, with the text for followers.
package struct MatchEvent: Sendable, Hashable, Codable {
    package var type: MatchEventType
    /// 0 for what concerns the match as a whole.
    package var innings: Int
    /// The player or team it is about.
    package var subject: String?
    /// How many at once (wickets), or how many in a row (sixes); 1 otherwise.
    package var count: Int
    /// Distinguishes it from an earlier event of the same type: the wicket's number, the target, the ball's number.
    package var mark: Int?
    /// `16.1`.
    package var ball: String?
    package var text: String
    package var at: Timestamp

    package init(
        _ type: MatchEventType,
        innings: Int = 0,
        subject: String? = nil,
        count: Int = 1,
        mark: Int? = nil,
        ball: String? = nil,
        text: String,
        at: Timestamp
    ) {
        self.type = type
        self.innings = innings
        self.subject = subject
        self.count = count
        self.mark = mark
        self.ball = ball
        self.text = text
        self.at = at
    }
}

extension MatchEvent {
    /// What a cooldown is kept under: event, subject and innings, and for events that repeat by themselves, which one it is.
    var cooldownKey: String {
        let name = "\(type.rawValue)/\(innings)"
        switch type {
        case .wicket, .targetSet, .onHattrick, .hattrick, .consecutiveSixes, .bigOver: return "\(name)/\(subject ?? "")/\(mark ?? 0)"
        default: return subject.map { "\(name)/\($0)" } ?? name
        }
    }
}
