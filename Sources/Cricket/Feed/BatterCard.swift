import ServiceKit

/// A batter's line on the card of one innings.
package struct BatterCard: Sendable, Hashable, Encodable {
    package enum State: String, Sendable, Hashable, Codable, CaseIterable {
        /// At the crease.
        case batting
        case out
        /// Gone without being out; may come back.
        case retired
        /// The innings ended first.
        case notOut
    }

    /// Unique within the innings.
    package var name: String
    package var runs: Int = 0
    package var balls: Int = 0
    var fours: Int?
    var sixes: Int?
    package var state: State = .batting
    /// Faces the next ball; only while batting.
    var onStrike: Bool?
    /// `c Rao b Lindqvist`, without the batter's name.
    package var dismissal: String?
}

extension BatterCard: FeedValue {
    init(_ json: JSONValue, at pointer: String) throws(FeedError) {
        var fields = try StrictFields(json, at: pointer)
        name = try fields.requiredText("name", 1...100)
        runs = try fields.requiredNumber("runs", 0...1_000)
        balls = try fields.requiredNumber("balls", 0...5_000)
        fours = try fields.number("fours", 0...300)
        sixes = try fields.number("sixes", 0...300)
        state = try fields.choice("state", of: State.self)
        onStrike = try fields.optional("onStrike")
        if onStrike == true, state != .batting {
            throw fields.fault("onStrike", "Only a batter whose state is \"batting\" can be on strike.")
        }
        dismissal = try fields.text("dismissal", 1...200)
        try fields.finish()
    }
}
