package import Foundation

/// A match in the Cricsheet JSON format (https://cricsheet.org/format/json/), as far as scores need it.
///
/// Unused fields are ignored, since the format grows. Used ones are checked, and an error names the position.
package struct CricsheetMatch: Sendable, Decodable {
    var info: Info
    var innings: [Innings]

    struct Info: Sendable, Decodable {
        var teams: [String]
        var ballsPerOver: Int?
        /// The limit of an innings, where there is one.
        var overs: Int?
        var event: Event?
        var outcome: Outcome

        enum CodingKeys: String, CodingKey {
            case teams, overs, event, outcome
            case ballsPerOver = "balls_per_over"
        }
    }

    struct Event: Sendable, Decodable {
        var name: String?
        var matchNumber: Int?
        var stage: String?

        enum CodingKeys: String, CodingKey {
            case name, stage
            case matchNumber = "match_number"
        }
    }

    struct Outcome: Sendable, Decodable {
        var winner: String?
        var by: Margin?
        var method: String?
        /// `tie`, `draw` or `no result`.
        var result: String?
        /// Who won the super overs.
        var eliminator: String?
        var bowlOut: String?

        enum CodingKeys: String, CodingKey {
            case winner, by, method, result, eliminator
            case bowlOut = "bowl_out"
        }
    }

    struct Margin: Sendable, Decodable {
        var runs: Int?
        var wickets: Int?
        var innings: Int?
    }
}

extension CricsheetMatch {
    /// Reads a file. The fault says what is missing and where.
    package static func read(json: Data) throws(FeedError) -> CricsheetMatch {
        let match: CricsheetMatch
        do {
            match = try JSONDecoder().decode(CricsheetMatch.self, from: json)
        } catch let fault as FeedError {
            throw fault
        } catch let error as DecodingError {
            throw FeedError(error)
        } catch {
            throw FeedError(code: "malformed_json", pointer: "", detail: "The file is not JSON.")
        }
        try match.check()
        return match
    }

    private func check() throws(FeedError) {
        guard info.teams.count == 2, info.teams[0] != info.teams[1] else {
            throw FeedError(pointer: "/info/teams", detail: "A match has two teams with different names.")
        }
        guard let ballsPerOver = info.ballsPerOver ?? 6 as Int?, (1...20).contains(ballsPerOver) else {
            throw FeedError(pointer: "/info/balls_per_over", detail: "An over has 1 to 20 balls.")
        }
        for (index, innings) in innings.enumerated() where !info.teams.contains(innings.team) {
            throw FeedError(pointer: "/innings/\(index)/team", detail: "\"\(innings.team)\" is not one of the teams of /info/teams.")
        }
    }
}
