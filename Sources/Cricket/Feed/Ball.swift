import ServiceKit

/// One delivery.
package struct Ball: Sendable, Hashable, Encodable {
    /// Runs that are nobody's with the bat.
    package struct Extras: Sendable, Hashable, Encodable {
        var wides = 0
        var noBalls = 0
        var byes = 0
        var legByes = 0
        var penalty = 0

        package init(wides: Int = 0, noBalls: Int = 0, byes: Int = 0, legByes: Int = 0, penalty: Int = 0) {
            self.wides = wides
            self.noBalls = noBalls
            self.byes = byes
            self.legByes = legByes
            self.penalty = penalty
        }

        package var total: Int { wides + noBalls + byes + legByes + penalty }
    }

    package struct Wicket: Sendable, Hashable, Encodable {
        var player: String
        package var kind: WicketKind

        package init(player: String, kind: WicketKind) {
            self.player = player
            self.kind = kind
        }
    }

    /// Number of the innings, from 1.
    package var innings: Int
    /// Running number of the delivery within the innings, from 1, wides and no-balls included: the identity with `innings`.
    package var number: Int
    /// Overs completed before this one.
    package var over: Int
    /// The legal ball of the over this delivery is, or is bowled instead of; from 1.
    package var ball: Int
    package var batter: String
    package var bowler: String
    /// Runs off the bat.
    package var runs: Int = 0
    package var extras: Extras?
    /// Four or six runs that did not come from a boundary.
    var nonBoundary: Bool?
    /// The over ends with this delivery. Without it, an over ends with its last legal ball.
    var endsOver: Bool?
    package var wickets: [Wicket]?
}

extension Ball {
    /// The position of a ball in a match.
    package struct Position: Sendable, Hashable, Comparable, Codable {
        package var innings: Int
        package var number: Int

        package static func < (lhs: Position, rhs: Position) -> Bool { (lhs.innings, lhs.number) < (rhs.innings, rhs.number) }
    }

    package var position: Position { Position(innings: innings, number: number) }
    /// As commentators say it: `16.1`.
    package var label: String { "\(over).\(ball)" }
    package var total: Int { runs + (extras?.total ?? 0) }
    /// Counts towards the over.
    var isLegal: Bool { (extras?.wides ?? 0) == 0 && (extras?.noBalls ?? 0) == 0 }
    /// What goes on the bowler's account: byes, leg byes and penalties do not.
    var conceded: Int { runs + (extras?.wides ?? 0) + (extras?.noBalls ?? 0) }
    var isFour: Bool { runs == 4 && nonBoundary != true }
    var isSix: Bool { runs == 6 && nonBoundary != true }
    var countedWickets: Int { wickets?.count { $0.kind.countsAsWicket } ?? 0 }
    var hasCreditedWicket: Bool { wickets?.contains { $0.kind.isCreditedToBowler } ?? false }

    /// `1`, `·`, `W`, `wd`, `5nb`, `2lb`: how it is shown in a row of recent balls.
    var symbol: String {
        if countedWickets > 0 { return "W" }
        guard let extras, extras.total > 0 else { return runs == 0 ? "·" : "\(runs)" }
        if extras.wides > 0 { return total == 1 ? "wd" : "\(total)wd" }
        if extras.noBalls > 0 { return total == 1 ? "nb" : "\(total)nb" }
        if extras.legByes > 0 { return "\(total)lb" }
        if extras.byes > 0 { return "\(total)b" }
        return "\(total)p"
    }
}

extension Ball: FeedValue {
    init(_ json: JSONValue, at pointer: String) throws(FeedError) {
        var fields = try StrictFields(json, at: pointer)
        innings = try fields.requiredNumber("innings", 1...MatchScore.maximumInnings)
        number = try fields.requiredNumber("number", 1...10_000)
        over = try fields.requiredNumber("over", 0...5_000)
        ball = try fields.requiredNumber("ball", 1...50)
        batter = try fields.requiredText("batter", 1...100)
        bowler = try fields.requiredText("bowler", 1...100)
        runs = try fields.number("runs", 0...20) ?? 0
        extras = try fields.optional("extras")
        nonBoundary = try fields.optional("nonBoundary")
        endsOver = try fields.optional("endsOver")
        wickets = try fields.optional("wickets")
        try fields.finish()
    }
}

extension Ball.Extras: FeedValue {
    init(_ json: JSONValue, at pointer: String) throws(FeedError) {
        var fields = try StrictFields(json, at: pointer)
        wides = try fields.number("wides", 0...20) ?? 0
        noBalls = try fields.number("noBalls", 0...20) ?? 0
        byes = try fields.number("byes", 0...20) ?? 0
        legByes = try fields.number("legByes", 0...20) ?? 0
        penalty = try fields.number("penalty", 0...20) ?? 0
        try fields.finish()
    }
}

extension Ball.Wicket: FeedValue {
    init(_ json: JSONValue, at pointer: String) throws(FeedError) {
        var fields = try StrictFields(json, at: pointer)
        player = try fields.requiredText("player", 1...100)
        kind = try fields.choice("kind", of: WicketKind.self)
        try fields.finish()
    }
}
