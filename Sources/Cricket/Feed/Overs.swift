import ServiceKit

/// Overs as they are written in cricket: `16.3` is sixteen complete overs and three legal balls.
package struct Overs: Sendable, Hashable {
    package var completed: Int
    package var balls: Int

    package init(completed: Int, balls: Int = 0) {
        self.completed = completed
        self.balls = balls
    }

    /// Legal balls as overs.
    package init(legalBalls: Int, ballsPerOver: Int) {
        self.init(completed: legalBalls / ballsPerOver, balls: legalBalls % ballsPerOver)
    }

    /// Reads `16.3` and `16`; nil for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let completed = Overs.number(parts[0]) else { return nil }
        guard let balls = parts.count == 2 ? Overs.number(parts[1]) : 0 else { return nil }
        self.init(completed: completed, balls: balls)
    }

    private static func number(_ text: Substring) -> Int? {
        guard (1...4).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }

    func legalBalls(ballsPerOver: Int) -> Int { completed * ballsPerOver + balls }

    /// `16.3`, with the zero: `20.0`.
    package var text: String { "\(completed).\(balls)" }

    /// As a bowler's figures have it: `3`, `2.4`.
    var shortText: String { balls == 0 ? "\(completed)" : text }
}

extension Overs: FeedValue {
    init(_ json: JSONValue, at pointer: String) throws(FeedError) {
        guard let overs = json.string.flatMap(Overs.init) else {
            throw FeedError(pointer: pointer, detail: "Write overs as a string such as \"16.3\": complete overs, a dot, legal balls.")
        }
        self = overs
    }
}

extension Overs: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
