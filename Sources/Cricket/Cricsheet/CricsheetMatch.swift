package import Foundation

/// A match in the Cricsheet JSON format (https://cricsheet.org/format/json/), as far as scores need it.
///
/// Unused fields are ignored, since the format grows. Used ones are checked, and an error names the position.
package struct CricsheetMatch: Sendable, Decodable {
    var info: Info
    var innings: [Innings]

    struct Info: Sendable, Decodable {
        var teams: [String]
        var dates: [String]
        var ballsPerOver: Int?
        /// The limit of an innings, where there is one.
        var overs: Int?
        var matchType: String
        var event: Event?
        var outcome: Outcome
        var toss: Toss?
        var season: Season?

        enum CodingKeys: String, CodingKey {
            case teams, dates, overs, event, outcome, toss, season
            case ballsPerOver = "balls_per_over"
            case matchType = "match_type"
        }
    }

    struct Event: Sendable, Decodable {
        var name: String?
        var matchNumber: Int?
        var stage: String?
        var group: String?

        enum CodingKeys: String, CodingKey {
            case name, stage, group
            case matchNumber = "match_number"
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.decodeIfPresent(String.self, forKey: .name)
            matchNumber = try container.decodeIfPresent(Int.self, forKey: .matchNumber)
            stage = try container.decodeIfPresent(String.self, forKey: .stage)
            // A letter, or a number in some competitions; nobody shows it.
            group = try? container.decodeIfPresent(String.self, forKey: .group)
        }
    }

    struct Toss: Sendable, Decodable {
        var winner: String?
        var decision: String?
    }

    /// `"2022"`, or in old files the number.
    struct Season: Sendable, Decodable {
        var text: String

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            text = try (try? container.decode(String.self)) ?? String(container.decode(Int.self))
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
