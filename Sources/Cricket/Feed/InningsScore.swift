import ServiceKit

/// The score of one innings.
package struct InningsScore: Sendable, Hashable, Encodable {
    /// What the side batting needs to win.
    package struct Target: Sendable, Hashable, Encodable {
        package var runs: Int
        /// How many overs it has for them, if that is limited.
        package var overs: Overs?

        package init(runs: Int, overs: Overs? = nil) {
            self.runs = runs
            self.overs = overs
        }
    }

    /// From 1, in the order of play; super overs go on counting.
    package var number: Int
    /// The short name of the side batting.
    package var team: String
    package var runs: Int = 0
    package var wickets: Int = 0
    package var overs: Overs = Overs(completed: 0)
    package var closed: Bool?
    var declared: Bool?
    package var superOver: Bool?
    package var target: Target?
    /// Everybody who has batted; without them there are no events about batters.
    package var batters: [BatterCard]?
    var bowlers: [BowlerCard]?

    package var isClosed: Bool { closed == true }
    var isSuperOver: Bool { superOver == true }
    package func batter(_ name: String) -> BatterCard? { batters?.first { $0.name == name } }
    package func bowler(_ name: String) -> BowlerCard? { bowlers?.first { $0.name == name } }
    /// `217/5 (20.0)`.
    package var line: String { "\(runs)/\(wickets) (\(overs.text))" }
}

extension InningsScore: FeedValue {
    init(_ json: JSONValue, at pointer: String) throws(FeedError) {
        var fields = try StrictFields(json, at: pointer)
        number = try fields.requiredNumber("number", 1...MatchScore.maximumInnings)
        team = try fields.requiredText("team", 1...12)
        runs = try fields.requiredNumber("runs", 0...5_000)
        wickets = try fields.requiredNumber("wickets", 0...30)
        overs = try fields.required("overs")
        closed = try fields.optional("closed")
        declared = try fields.optional("declared")
        superOver = try fields.optional("superOver")
        target = try fields.optional("target")
        batters = try fields.optional("batters")
        bowlers = try fields.optional("bowlers")
        try fields.finish()
        try check(fields)
    }

    private func check(_ fields: StrictFields) throws(FeedError) {
        let batting = batters ?? []
        guard batting.count <= 30, Set(batting.map(\.name)).count == batting.count else {
            throw fields.fault("batters", "At most 30 batters, each name once.")
        }
        guard batting.count(where: { $0.state == .batting }) <= 2, batting.count(where: { $0.onStrike == true }) <= 1 else {
            throw fields.fault("batters", "At most two batters are \"batting\", and one of them is on strike.")
        }
        let bowling = bowlers ?? []
        guard bowling.count <= 30, Set(bowling.map(\.name)).count == bowling.count else {
            throw fields.fault("bowlers", "At most 30 bowlers, each name once.")
        }
        guard bowling.count(where: { $0.bowling == true }) <= 1 else {
            throw fields.fault("bowlers", "Only one bowler is \"bowling\".")
        }
    }
}

extension InningsScore.Target: FeedValue {
    init(_ json: JSONValue, at pointer: String) throws(FeedError) {
        var fields = try StrictFields(json, at: pointer)
        runs = try fields.requiredNumber("runs", 1...5_000)
        overs = try fields.optional("overs")
        try fields.finish()
    }
}
