import Cricket
import Foundation
import LiveActivities
import TestDatabase
import Testing

@testable import Server

@Suite("The file of score feeds")
struct ScoreFeedFileTests {
    @Test("each feed has a URL, and headers and a token file if it wants them")
    func feeds() throws {
        let yaml = """
            - {url: "https://a.example/secret", name: league, tokenFile: /run/token, headers: {X-Customer: "17"}}
            - url: http://b.example
            """
        let feeds = try ScoreFeed.read(SettingsFile(yaml: yaml, name: "feeds.yml"))
        #expect(feeds.map(\.url) == ["https://a.example/secret", "http://b.example"])
        #expect(feeds.map(\.name) == ["league", "http://b.example"])
        #expect(feeds.map(\.tokenFile) == ["/run/token", nil] && feeds.map(\.headers) == [["X-Customer": "17"], [:]])
    }

    @Test("the example's answer becomes a state")
    func example() throws {
        let feeds = try ScoreFeed.read(file: ProjectDirectory.root + "/matches/feeds.example.yml")
        #expect(feeds.map(\.priority) == [1, 2])
        let answer = try #require(FileManager.default.contents(atPath: ProjectDirectory.root + "/matches/feed-answer.example.json"))
        let (states, faults) = try feeds[1].states(in: [UInt8](answer))
        #expect(faults == [])
        let state = try #require(states.first)
        #expect(state.matchId == "lantern-7" && state.phase == .live && state.innings.map(\.line) == ["111/2 (10.0)", "31/1 (3.2)"])
        #expect(state.innings[1].batters?.map(\.name) == ["Amal Haddad", "Dara Finch"] && state.innings[1].target?.runs == 112)
    }

    @Test("`feeds check` prints the state, and what is wrong with an answer by its place")
    func command() async throws {
        let example = ["feeds", "check", "matches/feeds.example.yml", "--feed", "https://vendor.example/v2/fixtures", "--sample"]
        let check = try RunningCommand(example + ["matches/feed-answer.example.json"])
        #expect(try await check.ended() == 0)
        #expect(check.text.contains(#""matchId":"lantern-7""#), "\(check.text)")
        let directory = FileManager.default.temporaryDirectory.appending(path: "feed-\(UInt64.random(in: 0...UInt64.max)).json")
        defer { try? FileManager.default.removeItem(at: directory) }
        let answer = try String(contentsOfFile: ProjectDirectory.root + "/matches/feed-answer.example.json", encoding: .utf8)
        try answer.replacing("IN_PLAY", with: "SNOW").write(to: directory, atomically: true, encoding: .utf8)
        let wrong = try RunningCommand(example + [directory.path])
        #expect(try await wrong.ended() == 1)
        #expect(wrong.text.contains(#"/fixtures/0/stage: The value "SNOW" is not among "values""#), "\(wrong.text)")
    }

    @Test(
        "faults name their place, and repeat no value",
        arguments: [
            ("a: [", "feeds.yml is not YAML"), ("a: b", "feeds.yml must be a list of feeds"), ("- a", "feed 1 must be a mapping"),
            ("- {url: \"ftp://a\"}", "feed 1: `url` must begin with https:// or http://"),
            ("- {url: \"https://a\", token: secret}", "feed 1: `token` is not known"),
            ("- {url: \"https://a\", name: \"my league\"}", "feed 1: `name` must be 1 to 100 visible ASCII characters"),
            ("- {url: \"https://a?k=secret\"}\n- {url: \"https://a\"}", "two feeds are called https://a"),
            ("- {url: \"https://a\", priority: 0}", "feed 1: `priority` must be a whole number from 1"),
            ("- {url: \"https://a\", mapping: {state: {matchId: id}}}", "feed 1: `mapping` at /state/matchId: \"id\" is not a path"),
            ("- {url: \"https://a\", tokenFile: 7}", "feed 1: `tokenFile` must be a path"),
            ("- {url: \"https://a\", headers: {X-Key: \"sec\\nret\"}}", "feed 1: the value of `X-Key`"),
            ("- {url: \"https://a\", headers: {\"X Key\": secret}}", "feed 1: `X Key` is not the name of a header"),
        ]
    )
    func faults(yaml: String, message: String) {
        let error = #expect(throws: ConfigurationError.self) { try ScoreFeed.read(SettingsFile(yaml: yaml, name: "feeds.yml")) }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains(message) && !text.contains("secret"), "\(text)")
    }
}
