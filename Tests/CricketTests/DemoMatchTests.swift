import Foundation
import PushContract
import Testing

@testable import Cricket

/// The bundled match: what a newcomer sees.
@Suite
struct DemoMatchTests {
    @Test("the demo match is well formed, and full of what can happen")
    func demo() throws {
        let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let script = MatchScript(
            try CricsheetMatch.read(json: try Data(contentsOf: repository.appendingPathComponent("matches/demo.json")))
        )
        let changes = Sample.play(Sample.feed(script))
        #expect(changes.last?.display.status == "HL won by 3 runs")
        #expect(changes.last?.display.innings.map(\.runs) == [111, 108])
        #expect(changes.count(.hattrick) == 1)
        let told = Set(changes.events.map(\.type))
        for type in [MatchEventType.matchStart, .wicket, .maiden, .six, .four, .inningsEnd, .targetSet, .onHattrick, .matchEnd] {
            #expect(told.contains(type), "\(type)")
        }
    }

    @Test("every sentence about a wrong match file names its place")
    func faults() {
        func fault(_ json: String) -> FeedError? {
            do throws(FeedError) {
                _ = try CricsheetMatch.read(json: Data(json.utf8))
                return nil
            } catch { return error }
        }
        func match(_ innings: String) -> String { #"{"info":{"teams":["A","B"],"outcome":{}},"innings":[\#(innings)]}"# }
        #expect(fault(match(#"{"team":"A"}"#)) == nil, "what no score needs may be missing")
        #expect(fault("{")?.code == "malformed_json")
        #expect(fault("{}")?.pointer == "/info")
        #expect(fault(match(#"{"team":"C"}"#))?.pointer == "/innings/0/team")
        #expect(
            fault(match(#"{"team":"A","overs":[{"over":0,"deliveries":[{"batter":"x"}]}]}"#))?.pointer
                == "/innings/0/overs/0/deliveries/0/bowler"
        )
        let odd =
            #"{"batter":"x","bowler":"y","non_striker":"z","runs":{"batter":0,"extras":0,"total":0},"wickets":[{"player_out":"x","kind":"fell"}]}"#
        #expect(
            fault(match(#"{"team":"A","overs":[{"over":0,"deliveries":[\#(odd)]}]}"#))?.pointer
                == "/innings/0/overs/0/deliveries/0/wickets/0/kind"
        )
    }
}
