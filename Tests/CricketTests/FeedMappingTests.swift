import PushContract
import ServiceKit
import Testing

@testable import Cricket

@Suite("Mappings of vendors' feeds")
struct FeedMappingTests {
    private static let mapping = """
        {"each": "/data/games", "state": {
            "matchId": {"path": "/id", "prefix": "v-"}, "updatedAt": {"path": "/at", "as": "epochMilliseconds"},
            "phase": {"path": "/state", "values": {"LIVE": "live", "DONE": "ended", "1": "break"}},
            "teams": {"each": "/sides", "item": {"name": "/title", "short": "/abbr"}},
            "innings": {"each": "/inns", "item": {"number": {"index": 1}, "runs": "/r", "wickets": "/w",
                "team": {"path": "/side", "lookup": {"in": "^/sides", "key": "/id", "value": "/abbr"}},
                "overs": {"path": "/ov", "as": "overs"}, "target": {"runs": "/chase"},
                "batters": {"each": "/bat", "where": {"/in": true},
                    "item": {"name": "/n", "runs": {"path": "/r", "as": "number"}, "balls": "/b", "state": {"constant": "batting"}}}}},
            "result": {"outcome": {"path": "/won", "values": {"yes": "win"}}, "winner": "/by"}}}
        """
    private static let game = """
        {"id": 7, "at": 1795168800500, "state": "LIVE", "extra": [1], "sides": [{"id": 1, "title": "Ash", "abbr": "A"},
            {"id": 2, "title": "Birch", "abbr": "B", "kit": {}}],
         "inns": [{"side": 2, "r": 40, "w": 3, "ov": 7.4}, {"side": 1, "r": 9, "w": 0, "ov": "1", "chase": 41,
            "bat": [{"n": "Oak", "r": "7", "b": 5, "in": true}, {"n": "Elm", "r": 0, "b": 0, "in": false}]}], "won": null}
        """

    private func map(_ games: String...) throws -> [FeedMapping.Mapped] {
        let mapping = try FeedMapping(try MatchScore.parse(Array(Self.mapping.utf8)))
        return try mapping.states(in: try MatchScore.parse(Array(#"{"data": {"games": [\#(games.joined(separator: ","))]}}"#.utf8)))
    }

    @Test(
        "paths, positions, values, look-ups, conditions and conversions make a state; what no path names is ignored, what is null is left out"
    )
    func state() throws {
        let state = try #require(try map(Self.game).first).state.get()
        #expect(state.matchId == "v-7" && state.phase == .live && state.sequence == nil && state.result == nil)
        #expect(state.updatedAt == Timestamp(seconds: 1_795_168_800) + .milliseconds(500))
        #expect(state.teams.map(\.short) == ["A", "B"])
        #expect(state.innings.map(\.line) == ["40/3 (7.4)", "9/0 (1.0)"] && state.innings.map(\.team) == ["B", "A"])
        #expect(state.innings.map(\.target?.runs) == [nil, 41])
        #expect(state.innings[1].batters?.map(\.name) == ["Oak"] && state.innings[1].batters?.first?.runs == 7)
        let ended = Self.game.replacing(#""LIVE""#, with: #""DONE""#).replacing(#""won": null"#, with: #""won": "yes", "by": "A""#)
        #expect(try map(ended)[0].state.get().result?.winner == "A")
        #expect(try map(Self.game.replacing(#""LIVE""#, with: "1"))[0].state.get().phase == .break, "a number is named by its text")
    }

    @Test(
        "what cannot be mapped is named by its place in the answer, what makes no state by its field and where that was looked for",
        arguments: [
            (#""LIVE""#, #""PAUSED""#, "/data/games/0/state: The value \"PAUSED\" is not among \"values\" (\"1\", \"DONE\", \"LIVE\")"),
            (#""ov": 7.4"#, #""ov": "seven""#, "/data/games/0/inns/0/ov: \"seven\" is not overs"),
            (#""side": 2"#, #""side": 3"#, "/data/games/0/inns/0/side: No element of /data/games/0/sides has the key \"3\""),
            (
                #""r": 40"#, #""r": -1"#,
                "/innings/0/runs: \"runs\" must be a whole number from 0 to 5000. In the answer: /data/games/0/inns/0/r."
            ),
            (#""w": 3, "#, "", "/innings/0/wickets: Add the field \"wickets\". In the answer: /data/games/0/inns/0/w."),
            (#""inns": ["#, #""inns": 4, "x": ["#, "/data/games/0/inns: An array is expected here"),
            (#""at": 1795168800500"#, #""at": "now""#, "/data/games/0/at: \"now\" is not a moment"),
        ]
    )
    func faults(part: String, replacement: String, message: String) throws {
        let mapped = try map(Self.game.replacing(part, with: replacement), Self.game)
        #expect(mapped.count == 2 && (try? mapped[1].state.get()) != nil, "one match keeps no other from being read")
        guard case .failure(let fault) = mapped[0].state else {
            Issue.record("it was mapped")
            return
        }
        #expect(fault.description.hasPrefix(message), "\(fault)")
    }

    @Test(
        "a mapping that cannot be used says where",
        arguments: [
            (#"{"each": "/a"}"#, "/state: Add \"state\""), (#"{"state": "/x"}"#, "/state: \"state\" is a mapping"),
            (#"{"state": {"matchId": "id"}}"#, "/state/matchId: \"id\" is not a path"),
            (#"{"state": {"phase": {"path": "/p", "value": {}}}}"#, "/state/phase/value: \"value\" is not known here"),
            (#"{"state": {"phase": {"path": "/p", "as": "date"}}}"#, "/state/phase/as: \"as\" must be one of text"),
            (#"{"state": {"teams": {"each": "/t"}}}"#, "/state/teams/item: Add \"item\""),
            (#"{"state": {"teams": {"each": "t", "item": {}}}}"#, "/state/teams/each: \"each\" is a path"),
            (#"{"state": {"phase": {"path": "/p", "otherwise": "live"}}}"#, "/state/phase/otherwise: \"otherwise\" goes with"),
        ]
    )
    func unusable(mapping: String, message: String) {
        let fault = #expect(throws: FeedError.self) { try FeedMapping(try MatchScore.parse(Array(mapping.utf8))) }
        #expect(fault.map { $0.description.hasPrefix(message) } ?? false, "\(fault.map(\.description) ?? "")")
    }

    @Test("of two sources play decides, not their clocks and sequences; names that differ make no event")
    func order() {
        func score(_ runs: Int, _ wickets: Int, _ overs: String, at seconds: Int64, sequence: Int64) -> MatchScore {
            var score = Sample.score(1)
            score.innings = [InningsScore(number: 1, team: score.teams[0].short, runs: runs, wickets: wickets, overs: Overs(overs)!)]
            score.updatedAt = Sample.now + .seconds(seconds)
            score.sequence = sequence
            return score
        }
        let known = score(50, 2, "8.3", at: 100, sequence: 1000)
        let further = score(51, 2, "8.4", at: 0, sequence: 1)
        let behind = score(49, 2, "8.2", at: 900, sequence: 9000)
        let equal = score(50, 2, "8.3", at: 50, sequence: 3)
        #expect(further.supersedes(known, .other) && !further.supersedes(known, .same))
        #expect(!behind.supersedes(known, .other) && !behind.supersedes(known, .replacement) && behind.supersedes(known, .same))
        #expect(equal.supersedes(known, .other), "the same score is confirmed by either")
        var reworded = equal
        reworded.status = "Drinks"
        #expect(!reworded.supersedes(known, .other) && reworded.supersedes(known, .replacement))
        #expect(further.supersedes(known, .further) && !equal.supersedes(known, .further) && !behind.supersedes(known, .further))
        var memory = MatchMemory()
        guard case .changed(let first) = MatchProgress.step(memory, with: known, now: Sample.now) else { return #expect(Bool(false)) }
        memory = first.memory
        var other = score(52, 3, "8.4", at: 0, sequence: 1)
        other.innings[0].batters = [BatterCard(name: "OAK T.", runs: 52, balls: 30, state: .batting)]
        guard case .changed(let second) = MatchProgress.step(memory, with: other, .replacement, now: Sample.now + .seconds(120)) else {
            return #expect(Bool(false))
        }
        #expect(Set(second.events.map(\.type)) == [.wicket, .scoreChange], "no fifty of a batter whose name is new")
    }
}
