/// The events of a match that followers are notified of.
package enum MatchEventType: String, Sendable, Hashable, Codable, CaseIterable {
    // Tier 0: seen in scores alone.
    case matchStart = "match_start"
    case matchEnd = "match_end"
    case inningsEnd = "innings_end"
    case wicket
    case newBatsman = "new_batsman"
    case fifty, hundred
    case hundredAndFifty = "150"
    case twoHundred = "200"
    case batsmanOn90s = "batsman_on_90s"
    case fiveFor = "five_for"
    case batsmanOnFire = "batsman_on_fire"
    case bowlerOnFire = "bowler_on_fire"
    case targetSet = "target_set"
    case interruption, resume, stumps
    case superOverStart = "super_over_start"
    case scoreChange = "score_change"
    // Tier 1: needs balls.
    case four, six
    case onHattrick = "on_hattrick"
    case hattrick
    case consecutiveSixes = "consecutive_sixes"
    case maiden
    case bigOver = "big_over"
}

/// How an event is sent: its APNs priority, and whether the phone alerts.
package enum EventUrgency: String, Sendable, Hashable, CaseIterable {
    /// Priority 10, with an alert.
    case alert
    /// Priority 10.
    case immediate
    /// Priority 10 while the device's budget lasts, else 5.
    case budgeted
    /// Priority 5.
    case quiet
}

extension MatchEventType {
    /// The tier that finds it: 0 from scores, 1 from balls.
    package var tier: Int {
        switch self {
        case .four, .six, .onHattrick, .hattrick, .consecutiveSixes, .maiden, .bigOver: 1
        default: 0
        }
    }

    /// The priority among several events of one state; the lowest number is shown.
    package var priority: Int {
        switch self {
        case .matchEnd: 1
        case .inningsEnd: 2
        case .hattrick: 3
        case .hundred, .hundredAndFifty, .twoHundred: 4
        case .wicket: 5
        case .superOverStart: 6
        case .fiveFor: 7
        case .fifty: 8
        case .interruption, .resume, .stumps, .matchStart, .targetSet: 9
        case .onHattrick: 10
        case .consecutiveSixes: 11
        case .six: 12
        case .four: 13
        case .batsmanOn90s: 14
        case .maiden, .bigOver: 15
        case .batsmanOnFire, .bowlerOnFire: 16
        case .newBatsman: 17
        case .scoreChange: 18
        }
    }

    package var urgency: EventUrgency {
        switch priority {
        case ...8: .alert
        case 9...11: .immediate
        case 12...13: .budgeted
        default: .quiet
        }
    }

    /// How long the same event (same key) is not repeated after it was shown.
    var cooldown: Duration? {
        switch self {
        case .four, .six: .seconds(20)
        case .batsmanOnFire, .bowlerOnFire: .seconds(600)
        case .interruption, .resume, .stumps: .seconds(300)
        case .maiden, .newBatsman, .scoreChange: nil
        // For the whole innings, and a day of a Test match is one part of it.
        default: .seconds(7 * 86_400)
        }
    }
}
