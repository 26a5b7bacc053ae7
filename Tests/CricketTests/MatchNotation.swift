import Foundation

@testable import Cricket

/// A hand-made match in short notation, turned into a Cricsheet file.
///
/// An over is `Bowler: tokens`. Tokens: `.` `1` `4` `6` runs; `4r` an all-run four; `wd` `wd3` wides; `nb` `nb4` a no-ball with runs off
/// the bat; `b2` byes; `lb1` leg byes; `p5` penalty runs; `W` bowled, `Wc` caught, `Wst` stumped, `Wro` the striker run out, `Wron` the
/// non-striker run out, `Rh` retired hurt, `Ro` retired out.
struct MatchNotation {
    struct Innings {
        var team: String
        var overs: [String]
        var extra: [String: Any] = [:]
    }

    var teams = ["Ash Town", "Birch City"]
    var overs: Int? = 20
    var outcome: [String: Any] = ["winner": "Ash Town", "by": ["runs": 1]]
    var innings: [Innings]
    /// Names by team; further ones are made up.
    var players: [String: [String]] = [:]

    func script() throws -> MatchScript { MatchScript(try CricsheetMatch.read(json: data())) }

    func data() throws -> Data {
        var info: [String: Any] = [
            "teams": teams, "dates": ["2026-05-01"], "balls_per_over": 6, "match_type": "T20", "outcome": outcome,
            "event": ["name": "Tree Cup", "match_number": 1],
        ]
        info["overs"] = overs
        return try JSONSerialization.data(
            withJSONObject: ["meta": ["data_version": "1.1.0"], "info": info, "innings": innings.map(json)],
            options: [.sortedKeys]
        )
    }

    private func json(_ innings: Innings) -> [String: Any] {
        var pen = Pen(names: players[innings.team] ?? [], team: innings.team)
        var document: [String: Any] = ["team": innings.team]
        document["overs"] = innings.overs.enumerated().map { index, text in ["over": index, "deliveries": pen.over(text)] as [String: Any] }
        return document.merging(innings.extra) { $1 }
    }

    /// Keeps track of who bats while an innings is written down.
    private struct Pen {
        private let names: [String]
        private let team: String
        private var next = 2
        private var striker: String
        private var other: String

        init(names: [String], team: String) {
            self.names = names
            self.team = team
            striker = Pen.name(0, names, team)
            other = Pen.name(1, names, team)
        }

        private static func name(_ index: Int, _ names: [String], _ team: String) -> String {
            index < names.count ? names[index] : "\(team.prefix(1)) Player \(index + 1)"
        }

        mutating func over(_ text: String) -> [[String: Any]] {
            let parts = text.split(separator: ":")
            let bowler = String(parts[0])
            let bowledBalls = parts[1].split(separator: " ").map { delivery(String($0), bowler) }
            swap(&striker, &other)
            return bowledBalls
        }

        private mutating func delivery(_ token: String, _ bowler: String) -> [String: Any] {
            var batter = 0
            var extras: [String: Int] = [:]
            var run = 0
            var document: [String: Any] = ["batter": striker, "bowler": bowler, "non_striker": other]
            var runs: [String: Any] = [:]
            func number(_ prefix: String) -> Int { Int(token.dropFirst(prefix.count)) ?? 0 }
            if token.hasPrefix("wd") {
                extras["wides"] = max(1, number("wd"))
                run = max(0, number("wd") - 1)
            } else if token.hasPrefix("nb") {
                extras["noballs"] = 1
                batter = number("nb")
                run = batter
            } else if token.hasPrefix("lb") {
                extras["legbyes"] = number("lb")
                run = number("lb")
            } else if token.hasPrefix("b") {
                extras["byes"] = number("b")
                run = number("b")
            } else if token.hasPrefix("p") {
                extras["penalty"] = number("p")
            } else if token.hasPrefix("W") || token.hasPrefix("R") {
                document["wickets"] = [wicket(token)]
            } else if token != "." {
                batter = Int(token.prefix(1)) ?? 0
                if token.hasSuffix("r") { runs["non_boundary"] = true }
                run = batter
            }
            let sum = extras.values.reduce(0, +)
            runs["batter"] = batter
            runs["extras"] = sum
            runs["total"] = batter + sum
            document["runs"] = runs
            if !extras.isEmpty { document["extras"] = extras }
            if run % 2 == 1 { swap(&striker, &other) }
            return document
        }

        private mutating func wicket(_ token: String) -> [String: Any] {
            let kinds = [
                "W": "bowled", "Wc": "caught", "Wst": "stumped", "Wro": "run out", "Wron": "run out", "Rh": "retired hurt",
                "Ro": "retired out",
            ]
            let out = token == "Wron" ? other : striker
            let incoming = Pen.name(next, names, team)
            next += 1
            if token == "Wron" { other = incoming } else { striker = incoming }
            return ["player_out": out, "kind": kinds[token] ?? token]
        }
    }
}
