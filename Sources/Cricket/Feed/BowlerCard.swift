import ServiceKit

/// A bowler's figures in one innings.
package struct BowlerCard: Sendable, Hashable, Encodable {
    /// Unique within the innings.
    package var name: String
    package var overs: Overs
    var maidens: Int?
    package var runs: Int = 0
    package var wickets: Int = 0
    /// Bowls the current over.
    var bowling: Bool?
}

extension BowlerCard: FeedValue {
    init(_ json: JSONValue, at pointer: String) throws(FeedError) {
        var fields = try StrictFields(json, at: pointer)
        name = try fields.requiredText("name", 1...100)
        overs = try fields.required("overs")
        maidens = try fields.number("maidens", 0...500)
        runs = try fields.requiredNumber("runs", 0...2_000)
        wickets = try fields.requiredNumber("wickets", 0...30)
        bowling = try fields.optional("bowling")
        try fields.finish()
    }
}
