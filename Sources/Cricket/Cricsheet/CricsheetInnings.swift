extension CricsheetMatch {
    struct Innings: Sendable, Decodable {
        var team: String
        var overs: [Over]?
        var target: Target?
        var superOver: Bool?
        var declared: Bool?
        var forfeited: Bool?
        var penaltyRuns: Penalty?
        /// Overs the umpires ended early or late, by the over's number as text.
        var miscountedOvers: [String: Miscount]?

        enum CodingKeys: String, CodingKey {
            case team, overs, target, declared, forfeited
            case superOver = "super_over"
            case penaltyRuns = "penalty_runs"
            case miscountedOvers = "miscounted_overs"
        }
    }

    struct Target: Sendable, Decodable {
        var runs: Int
        var overs: Overs?

        enum CodingKeys: String, CodingKey { case runs, overs }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            runs = try container.decode(Int.self, forKey: .runs)
            // 12, or 14.2 for fourteen overs and two balls.
            overs = try container.decodeIfPresent(Double.self, forKey: .overs).map { value in
                let tenths = Int((value * 10).rounded())
                return Overs(completed: tenths / 10, balls: tenths % 10)
            }
        }
    }

    /// Runs awarded outside of deliveries.
    struct Penalty: Sendable, Decodable {
        var pre: Int?
        var post: Int?
    }

    struct Miscount: Sendable, Decodable {
        var balls: Int
    }

    struct Over: Sendable, Decodable {
        /// From 0.
        var over: Int
        var deliveries: [BowledBall]
    }

    struct BowledBall: Sendable, Decodable {
        var batter: String
        var bowler: String
        var nonStriker: String
        var runs: Runs
        var extras: Extras?
        var wickets: [Wicket]?

        enum CodingKeys: String, CodingKey {
            case batter, bowler, runs, extras, wickets
            case nonStriker = "non_striker"
        }
    }

    struct Runs: Sendable, Decodable {
        var batter: Int
        var extras: Int
        var total: Int
        var nonBoundary: Bool?

        enum CodingKeys: String, CodingKey {
            case batter, extras, total
            case nonBoundary = "non_boundary"
        }
    }

    struct Extras: Sendable, Decodable {
        var wides: Int?
        var noballs: Int?
        var byes: Int?
        var legbyes: Int?
        var penalty: Int?
    }

    struct Wicket: Sendable, Decodable {
        var playerOut: String
        var kind: WicketKind
        var fielders: [Fielder]?

        enum CodingKeys: String, CodingKey {
            case kind, fielders
            case playerOut = "player_out"
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            playerOut = try container.decode(String.self, forKey: .playerOut)
            fielders = try container.decodeIfPresent([Fielder].self, forKey: .fielders)
            let text = try container.decode(String.self, forKey: .kind)
            guard let known = WicketKind(rawValue: text) else {
                let list = WicketKind.allCases.map(\.rawValue).joined(separator: ", ")
                throw FeedError(at: container.codingPath + [CodingKeys.kind], "\"\(text)\" is not a kind of wicket: \(list).")
            }
            kind = known
        }
    }

    struct Fielder: Sendable, Decodable {
        var name: String?
    }
}
