import Foundation
import PushContract
import Testing

@testable import Cricket

/// Hand-made matches and everything that must be told of them, in order (L-24).
@Suite
struct GoldenMatchTests {
    @Test("a hat-trick across two overs, a four that was run, a maiden with byes, a tie and a super over")
    func tieWithSuperOver() throws {
        let match = MatchNotation(
            overs: 3,
            outcome: ["result": "tie", "eliminator": "Birch City"],
            innings: [
                .init(team: "Ash Town", overs: ["Yew: . 4 4r . . W", "Fir: b1 lb2 . b4 . .", "Yew: Wc Wst 1 1 1 1"]),
                .init(team: "Birch City", overs: ["Ivy: 6 6 . . 6 1", "Elm: . . . . . .", "Ivy: . . . . . ."]),
                .init(team: "Birch City", overs: ["Ivy: 6 . . . . ."], extra: ["super_over": true]),
                .init(team: "Ash Town", overs: ["Yew: W Wro"], extra: ["super_over": true]),
            ],
            players: ["Ash Town": ["Oak", "Ash"], "Birch City": ["Birk", "Bay"]]
        )
        let changes = Sample.play(Sample.feed(try match.script()))
        #expect(
            changes.story == [
                "match_start 0",
                "wicket 1 @1.0",
                "maiden 1 @1.6 Fir",
                "wicket 1 @2.1",
                "on_hattrick 1 @2.1 Yew",
                "wicket 1 @2.2",
                "bowler_on_fire 1 @2.2 Yew",
                "hattrick 1 @2.2 Yew",
                "innings_end 1 @3.0 AT",
                "target_set 2 @0.0",
                "maiden 2 @1.6 Elm",
                "innings_end 2 @3.0 BC",
                "maiden 2 @2.6 Ivy",
                "super_over_start 3 @0.0",
                "innings_end 3 @1.0 BC",
                "target_set 4 @0.0",
                "wicket 4 @0.1",
                "wicket 4 @0.2",
                "innings_end 4 @0.2 AT",
                "match_end 0",
            ]
        )
        #expect(changes.count(.four) == 1, "the four that was run is no boundary")
        #expect(changes.count(.six) == 4)
        #expect(changes.last?.display.status == "Match tied, BC won the super over")
        #expect(changes.last?.display.innings.map(\.runs) == [19, 19, 6, 0])
    }

    @Test("a chase under D/L with retirements, penalty runs before the innings and within it, and a declared target")
    func shortenedChase() throws {
        let match = MatchNotation(
            overs: 20,
            outcome: ["winner": "Birch City", "by": ["wickets": 9], "method": "D/L"],
            innings: [
                .init(team: "Ash Town", overs: ["Yew: 1 Rh 4 . . .", "Fir: 6 Ro wd wd2 nb4 . . . ."]),
                .init(
                    team: "Birch City",
                    overs: ["Ivy: p5 4 . Wro 1 . ."],
                    extra: ["target": ["runs": 11, "overs": 1.3], "penalty_runs": ["pre": 5]]
                ),
            ]
        )
        let changes = Sample.play(Sample.feed(try match.script()))
        #expect(
            changes.story == [
                "match_start 0", "wicket 1 @1.2", "innings_end 1 @2.0 AT", "target_set 2 @0.0", "wicket 2 @0.4", "innings_end 2 @1.0 BC",
                "match_end 0",
            ]
        )
        let last = try #require(changes.last?.display)
        #expect(last.status == "BC won by 9 wickets (D/L)")
        #expect(last.innings.map(\.runs) == [19, 15])
        #expect(last.innings.map(\.wickets) == [1, 1], "the one who retired hurt is not out")
        #expect(last.innings[1].target == 11)
    }

    @Test("an abandoned match: interrupted, then over without a result, and no innings closed")
    func abandoned() throws {
        let match = MatchNotation(
            outcome: ["result": "no result"],
            innings: [.init(team: "Ash Town", overs: ["Yew: 1 . 4 . . .", "Fir: . W 1"])]
        )
        let changes = Sample.play(Sample.feed(try match.script()))
        #expect(changes.story == ["match_start 0", "wicket 1 @1.2", "interruption 0", "match_end 0"])
        #expect(changes.last?.display.phase == "abandoned")
        #expect(changes.last?.display.status == "No result")
    }

    @Test("a five-for, a fifty, a hundred and the ways there")
    func milestones() throws {
        let match = MatchNotation(
            overs: 4,
            outcome: ["winner": "Ash Town", "by": ["runs": 101]],
            innings: [
                .init(team: "Ash Town", overs: ["Yew: 6 6 6 6 6 6", "Fir: . . . . . .", "Yew: 6 6 6 6 6 6", "Fir: Wro 1 6 6 6 6"]),
                .init(team: "Birch City", overs: ["Ivy: W . W . W .", "Elm: . . . . . .", "Ivy: . W . W . ."]),
            ],
            players: ["Ash Town": ["Oak", "Ash"], "Birch City": ["Birk", "Bay"]]
        )
        let changes = Sample.play(Sample.feed(try match.script()))
        #expect(changes.count(.fifty) == 1)
        #expect(changes.count(.fiveFor) == 1)
        #expect(changes.count(.batsmanOnFire) == 1)
        #expect(changes.count(.batsmanOn90s) == 1)
        #expect(changes.count(.hundred) == 0)
        #expect(changes.story.contains("five_for 2 @2.4 Ivy"))
        #expect(changes.story.contains("big_over 1 @0.6 ×36"))
        #expect(changes.count(.consecutiveSixes) == 4 + 6 - 2 + 2, "each six from the third in a row, also across overs by deliveries")
    }

    @Test("four wickets in four balls are one hat-trick, run-outs are none")
    func fourInFour() throws {
        let match = MatchNotation(
            overs: 2,
            innings: [.init(team: "Ash Town", overs: ["Yew: W W W W . .", "Fir: W W Wro . . ."])]
        )
        let changes = Sample.play(Sample.feed(try match.script()))
        #expect(changes.count(.hattrick) == 1)
        #expect(changes.count(.onHattrick) == 2)
        #expect(changes.count(.wicket) == 7)
    }
}
