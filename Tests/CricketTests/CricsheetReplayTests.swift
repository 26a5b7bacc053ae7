import Foundation
import PushContract
import Testing

@testable import Cricket

/// Replays of real matches in the Cricsheet format, where they are at hand, against a count of their own.
@Suite
struct CricsheetReplayTests {
    /// Those of the directory that `PUSHWATCH_MATCH_FILES` names.
    static let files: [URL] = {
        guard let path = ProcessInfo.processInfo.environment["PUSHWATCH_MATCH_FILES"] else { return [] }
        let found = try? FileManager.default.contentsOfDirectory(at: URL(fileURLWithPath: path), includingPropertiesForKeys: nil)
        return (found ?? []).filter { $0.pathExtension == "json" }.sorted { $0.path < $1.path }
    }()

    static let skipped: Comment = "no match files at hand; set PUSHWATCH_MATCH_FILES to a directory of Cricsheet JSON files"

    @Test(
        "a real match ends with the totals, wickets, milestones and hat-tricks of an independent count",
        .enabled(if: !files.isEmpty, skipped),
        arguments: files
    )
    func wholeMatch(file: URL) throws {
        let data = try Data(contentsOf: file)
        let count = try IndependentCount(data)
        let script = MatchScript(try CricsheetMatch.read(json: data))
        for detail in ReplayDetail.allCases {
            let changes = Sample.play(Sample.feed(script, detail: detail))
            let last = try #require(changes.last?.display)
            #expect(last.innings.map(\.runs) == count.totals)
            #expect(last.innings.map(\.wickets) == count.wickets)
            #expect(changes.count(.wicket) == count.wickets.reduce(0, +))
            #expect(changes.count(.fifty) == count.fifties)
            #expect(changes.count(.hundred) == count.hundreds)
            #expect(changes.count(.fiveFor) == count.fiveFors)
            #expect(changes.count(.hattrick) == (detail == .balls ? count.hattricks : 0))
            #expect(changes.count(.matchEnd) == 1)
            #expect(last.phase == (count.isWithoutResult ? "abandoned" : "ended"))
            if let winner = count.winner {
                let short = try #require(script.teams.first { $0.name == winner }?.short)
                #expect(last.status.contains("\(short) won"))
            }
            #expect(changes.allSatisfy { $0.bytes.count <= DisplayBudget.bytes })
        }
    }

    @Test(
        "of a real match, a feed that sends more balls than are kept reports what one of the last 30 does",
        .enabled(if: !files.isEmpty, skipped),
        arguments: files
    )
    func longFeed(file: URL) throws {
        let script = MatchScript(try CricsheetMatch.read(json: try Data(contentsOf: file)))
        let balls = script.innings.flatMap { $0.bowledBalls.map(\.ball) }
        let expected = BallEventsTests().reported(balls)
        for count in [60, 120] { #expect(BallEventsTests().reported(balls, last: count) == expected) }
    }

    @Test(
        "each legal over has six balls, and every state passes the feed's own checks",
        .enabled(if: !files.isEmpty, skipped),
        arguments: files
    )
    func wellFormed(file: URL) throws {
        let script = MatchScript(try CricsheetMatch.read(json: try Data(contentsOf: file)))
        for innings in script.innings {
            for over in Dictionary(grouping: innings.bowledBalls, by: \.ball.over).values where over.contains(where: \.overEnds) {
                #expect(over.count { $0.ball.isLegal } == 6)
            }
        }
        let feed = Sample.feed(script)
        for message in feed.messages {
            let score = feed.score(of: message)
            #expect(try MatchScore.read(json: Array(score.json)) == score)
        }
    }
}

/// Reads the file by itself, without any type of `Cricket`, and counts.
private struct IndependentCount {
    var totals: [Int] = []
    var wickets: [Int] = []
    var fifties = 0
    var hundreds = 0
    var fiveFors = 0
    var hattricks = 0
    var winner: String?
    var isWithoutResult = false

    init(_ data: Data) throws {
        let root = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let outcome = (root["info"] as? [String: Any])?["outcome"] as? [String: Any]
        winner = outcome?["winner"] as? String ?? outcome?["eliminator"] as? String
        isWithoutResult = outcome?["result"] as? String == "no result"
        var streaks: [String: Int] = [:]
        for innings in root["innings"] as? [[String: Any]] ?? [] {
            var total = 0
            var fallen = 0
            var bats: [String: Int] = [:]
            var bowls: [String: Int] = [:]
            for over in innings["overs"] as? [[String: Any]] ?? [] {
                for delivery in over["deliveries"] as? [[String: Any]] ?? [] {
                    let runs = delivery["runs"] as? [String: Any] ?? [:]
                    total += runs["total"] as? Int ?? 0
                    bats[delivery["batter"] as? String ?? "", default: 0] += runs["batter"] as? Int ?? 0
                    let kinds = (delivery["wickets"] as? [[String: Any]] ?? []).compactMap { $0["kind"] as? String }
                    fallen += kinds.filter { !["retired hurt", "retired not out"].contains($0) }.count
                    let bowler = delivery["bowler"] as? String ?? ""
                    let credited = kinds.contains {
                        ["bowled", "caught", "caught and bowled", "lbw", "stumped", "hit wicket"].contains($0)
                    }
                    streaks[bowler] = credited ? (streaks[bowler] ?? 0) + 1 : 0
                    if credited { bowls[bowler, default: 0] += 1 }
                    if streaks[bowler] == 3 { hattricks += 1 }
                }
            }
            let penalty = innings["penalty_runs"] as? [String: Int] ?? [:]
            totals.append(total + penalty.values.reduce(0, +))
            wickets.append(fallen)
            fifties += bats.values.count { $0 >= 50 }
            hundreds += bats.values.count { $0 >= 100 }
            fiveFors += bowls.values.count { $0 >= 5 }
        }
    }
}
