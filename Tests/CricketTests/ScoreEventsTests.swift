import PushContract
import Testing

@testable import Cricket

/// Tier 0: every definition, from two scores alone (L-24, reference §5.4).
@Suite
struct ScoreEventsTests {
    private func types(_ before: MatchScore?, _ after: MatchScore) -> [MatchEventType] {
        ScoreEvents.between(before, and: after, now: Sample.now).map(\.type)
    }

    private func card(_ runs: Int, _ balls: Int = 10, _ state: BatterCard.State = .batting, _ name: String = "Oak") -> BatterCard {
        BatterCard(name: name, runs: runs, balls: balls, state: state)
    }

    private func batting(_ before: BatterCard?, _ after: BatterCard, from runs: Int = 100) -> [MatchEventType] {
        let earlier = Sample.score(1, innings: [Sample.innings(1, runs, 0, "10.0", batters: before.map { [$0] } ?? [])])
        return types(earlier, Sample.score(2, innings: [Sample.innings(1, 100, 0, "10.0", batters: [after])])).filter { $0 != .scoreChange }
    }

    @Test(
        "a batter's milestones are crossings, never equalities",
        arguments: [
            (49, 50, [MatchEventType.fifty]), (49, 55, [.fifty]), (50, 51, []), (48, 49, []), (44, 104, [.fifty, .hundred]),
            (99, 100, [.hundred]), (100, 101, []), (149, 153, [.hundredAndFifty]), (198, 202, [.twoHundred]),
            (40, 210, [.fifty, .hundred, .hundredAndFifty, .twoHundred]), (89, 90, [.batsmanOn90s]), (84, 96, [.batsmanOn90s]),
            (91, 95, []), (88, 100, [.hundred]), (95, 94, []),
        ]
    )
    func batterMilestones(before: Int, after: Int, expected: [MatchEventType]) {
        #expect(batting(card(before, 200), card(after, 201)) == expected)
    }

    @Test("a fifty is reported also when the batter got out between the polls, or was not on the card before")
    func milestonesBetweenPolls() {
        #expect(batting(card(45, 200), card(56, 210, .out)) == [.fifty])
        #expect(batting(nil, card(56, 210, .out), from: 44) == [.fifty])
        #expect(batting(nil, card(56, 210, .out), from: 45) == [], "the runs were made before")
    }

    @Test("players' lists that come late, and names that are corrected, make no event; players who come in do")
    func lateAndCorrected() {
        func score(_ runs: Int, _ wickets: Int, _ batters: [BatterCard]?, _ bowlers: [(String, Int)]?) -> MatchScore {
            let bowling = bowlers?.map { BowlerCard(name: $0.0, overs: Overs("10.0")!, runs: 40, wickets: $0.1) }
            return Sample.score(1, innings: [Sample.innings(1, runs, wickets, "30.0", batters: batters, bowlers: bowling)])
        }
        let (bay, box) = (card(30, 60, .batting, "Bay"), card(9, 9, .batting, "Box"))
        let states: [MatchScore] = [
            score(178, 5, nil, nil),
            score(180, 5, [card(110, 90, .batting, "A Oak"), bay], [("Elm", 5)]),
            score(181, 5, [card(111, 91, .batting, "Ash Oak"), bay], [("J Elm", 5)]),
            // Out, and the next batter and bowler.
            score(190, 6, [card(111, 91, .out, "Ash Oak"), bay, box], [("J Elm", 5), ("Fir", 1)]),
            score(230, 6, [card(111, 91, .out, "Ash Oak"), bay, card(49, 60, .batting, "Box")], [("J Elm", 5), ("Fir", 2)]),
            score(233, 6, [card(111, 91, .out, "Ash Oak"), bay, card(52, 62, .batting, "Box")], [("J Elm", 5), ("Fir", 2)]),
            score(240, 9, [card(111, 91, .out, "Ash Oak"), bay, card(52, 62, .out, "Box")], [("J Elm", 5), ("Fir", 5)]),
        ]
        #expect(
            zip(states, states.dropFirst()).map { types($0, $1) } == [
                [.scoreChange], [.scoreChange], [.wicket, .newBatsman, .scoreChange], [.scoreChange], [.fifty, .scoreChange],
                [.wicket, .fiveFor, .bowlerOnFire, .scoreChange],
            ]
        )
    }

    @Test("a wicket names nobody where the list of batters is late: those who were out before would be named")
    func lateNames() {
        let out = ["Oak", "Ash"].map { card(3, 3, .out, $0) }
        let before = Sample.score(1, innings: [Sample.innings(1, 50, 1, "7.0")])
        let after = Sample.score(2, innings: [Sample.innings(1, 52, 2, "8.0", batters: out)])
        let event = ScoreEvents.between(before, and: after, now: Sample.now).first { $0.type == .wicket }
        #expect(event?.text == "WICKET! AT 52/2 (8.0)")
    }

    @Test(
        "a batter is on fire from fifteen balls at two runs a ball",
        arguments: [
            (28, 14, 30, 15, true), (28, 14, 29, 15, false), (30, 15, 36, 16, false), (20, 13, 26, 14, false), (20, 14, 32, 16, true),
        ]
    )
    func batterOnFire(runs: Int, balls: Int, runsAfter: Int, ballsAfter: Int, expected: Bool) {
        #expect(batting(card(runs, balls), card(runsAfter, ballsAfter)).contains(.batsmanOnFire) == expected)
    }

    @Test(
        "a bowler's five wickets and fire",
        arguments: [
            (4, 5, "3.0", 30, [MatchEventType.fiveFor]), (3, 6, "3.0", 30, [.fiveFor]), (5, 6, "3.0", 30, []),
            (2, 3, "2.0", 12, [.bowlerOnFire]),
            (2, 3, "2.0", 13, []), (3, 4, "3.0", 18, []),
        ]
    )
    func bowlers(before: Int, after: Int, overs: String, runs: Int, expected: [MatchEventType]) {
        func score(_ sequence: Int64, _ wickets: Int) -> MatchScore {
            let card = BowlerCard(name: "Elm", overs: Overs(overs)!, runs: runs, wickets: wickets)
            return Sample.score(sequence, innings: [Sample.innings(1, 100, 0, "10.0", bowlers: [card])])
        }
        #expect(types(score(1, before), score(2, after)) == expected)
    }

    @Test(
        "where the current bowlers alone are listed, five wickets are reported in the step in which the fifth fell",
        arguments: [
            (7, [("Fir", 1)], 8, 5, [MatchEventType.wicket, .fiveFor]), (7, [("Fir", 1)], 7, 5, []), (7, [("Fir", 1)], 8, 6, [.wicket]),
            (7, [("Fir", 1)], 8, 3, [.wicket, .bowlerOnFire]), (7, [("Fir", 1)], 8, 4, [.wicket]), (7, nil, 7, 5, []),
        ] as [(Int, [(String, Int)]?, Int, Int, [MatchEventType])]
    )
    func currentBowlers(wickets: Int, bowlers: [(String, Int)]?, after: Int, elm: Int, expected: [MatchEventType]) {
        func score(_ sequence: Int64, _ wickets: Int, _ bowlers: [(String, Int)]?) -> MatchScore {
            // Of five wickets on, too dear to be on fire.
            let cards = bowlers?.map { BowlerCard(name: $0.0, overs: Overs("5.0")!, runs: $0.1 < 5 ? 20 : 40, wickets: $0.1) }
            return Sample.score(sequence, innings: [Sample.innings(1, 100, wickets, "20.0", bowlers: cards)])
        }
        let events = types(score(1, wickets, bowlers), score(2, after, [("Elm", elm)]))
        #expect(events.filter { $0 != .scoreChange } == expected)
    }

    @Test("wickets between two polls are one event with their count")
    func wickets() throws {
        let before = Sample.score(1, innings: [Sample.innings(1, 50, 2, "7.0", batters: [card(3, 3), card(9, 9, .batting, "Ash")])])
        let out = BatterCard(name: "Oak", runs: 3, balls: 4, state: .out, dismissal: "b Elm")
        let after = Sample.score(2, innings: [Sample.innings(1, 50, 4, "8.0", batters: [out, card(9, 9, .batting, "Ash")])])
        let event = try #require(ScoreEvents.between(before, and: after, now: Sample.now).first { $0.type == .wicket })
        #expect(event.count == 2)
        #expect(event.mark == 4)
        #expect(event.text == "2 WICKETS! Oak b Elm")
        #expect(
            types(before, Sample.score(2, innings: [Sample.innings(1, 50, 1, "8.0")])) == [.scoreChange],
            "a wicket taken back is no event"
        )
    }

    @Test("a new batter is one who was not on the card; the openers are not")
    func newBatter() {
        let two = [card(3, 3), card(9, 9, .batting, "Ash")]
        let before = Sample.score(1, innings: [Sample.innings(1, 50, 0, "7.0", batters: two)])
        let opening = Sample.score(1, innings: [Sample.innings(1, 0, 0, "0.0", batters: [])])
        let after = Sample.score(2, innings: [Sample.innings(1, 50, 0, "7.0", batters: two + [card(0, 0, .batting, "Fig")])])
        #expect(types(before, after) == [.newBatsman])
        #expect(types(opening, Sample.score(2, innings: [Sample.innings(1, 0, 0, "0.0", batters: two)])) == [])
    }

    @Test(
        "phases (L-03: the change to live is match_start)",
        arguments: [
            (MatchPhase.scheduled, MatchPhase.live, [MatchEventType.matchStart]), (.scheduled, .interrupted, [.matchStart, .interruption]),
            (.live, .interrupted, [.interruption]), (.interrupted, .live, [.resume]), (.break, .live, []), (.live, .break, []),
            (.live, .ended, [.matchEnd]), (.interrupted, .abandoned, [.matchEnd]), (.scheduled, .abandoned, [.matchEnd]),
            (.ended, .ended, []), (.live, .stumps, [.stumps]), (.interrupted, .stumps, [.stumps]), (.stumps, .stumps, []),
            (.stumps, .live, [.resume]), (.stumps, .interrupted, [.interruption]), (.stumps, .ended, [.matchEnd]),
        ]
    )
    func phases(before: MatchPhase, after: MatchPhase, expected: [MatchEventType]) {
        #expect(types(Sample.score(1, phase: before), Sample.score(2, phase: after)) == expected)
    }

    @Test("the end of an innings shows by its own word, or by the next one having begun")
    func inningsEnd() {
        let open = Sample.score(1, innings: [Sample.innings(1, 90, 3, "20.0")])
        #expect(types(open, Sample.score(2, innings: [Sample.innings(1, 90, 3, "20.0", closed: true)])) == [.inningsEnd])
        let next = Sample.score(3, innings: [Sample.innings(1, 90, 3, "20.0"), Sample.innings(2, 0, 0, "0.0", target: 91)])
        #expect(types(open, next) == [.inningsEnd, .targetSet, .scoreChange])
        let closed = Sample.score(2, innings: [Sample.innings(1, 90, 3, "20.0", closed: true)])
        #expect(types(closed, next) == [.targetSet, .scoreChange])
    }

    @Test("a target is reported when it is set and when it is revised")
    func targets() {
        func chase(_ sequence: Int64, _ target: Int) -> MatchScore {
            Sample.score(
                sequence,
                innings: [Sample.innings(1, 90, 3, "20.0", closed: true), Sample.innings(2, 5, 0, "1.0", target: target)]
            )
        }
        #expect(types(chase(1, 91), chase(2, 80)) == [.targetSet])
        #expect(types(chase(1, 91), chase(2, 91)) == [])
    }

    @Test("a super over begins with the first innings of its pair")
    func superOvers() {
        let main = [Sample.innings(1, 90, 3, "20.0", closed: true), Sample.innings(2, 90, 3, "20.0", closed: true)]
        let first = main + [Sample.innings(3, 0, 0, "0.0", superOver: true)]
        let second =
            main + [Sample.innings(3, 5, 0, "1.0", closed: true, superOver: true), Sample.innings(4, 0, 0, "0.0", superOver: true)]
        #expect(types(Sample.score(1, innings: main), Sample.score(2, innings: first)).contains(.superOverStart))
        #expect(!types(Sample.score(1, innings: first), Sample.score(2, innings: second)).contains(.superOverStart))
    }

    @Test("the first sight of a match has no history")
    func firstSight() {
        let innings = [Sample.innings(1, 160, 7, "20.0", batters: [card(120, 60)])]
        #expect(types(nil, Sample.score(1, innings: innings)) == [.matchStart])
        #expect(types(nil, Sample.score(1, phase: .scheduled)) == [])
        #expect(types(nil, Sample.score(1, phase: .ended, innings: innings)) == [])
    }

    @Test("priorities and urgencies are those of the table")
    func priorities() {
        let alerts = MatchEventType.allCases.filter { $0.urgency == .alert }
        #expect(
            Set(alerts) == [
                .matchEnd, .inningsEnd, .hattrick, .hundred, .hundredAndFifty, .twoHundred, .wicket, .superOverStart, .fiveFor, .fifty,
            ]
        )
        #expect(MatchEventType.allCases.filter { $0.urgency == .budgeted } == [.four, .six])
        #expect(
            [.matchEnd, .inningsEnd, .hattrick, .hundred, .wicket, .superOverStart, .fiveFor, .fifty].map(\MatchEventType.priority)
                == Array(1...8)
        )
        #expect(MatchEventType.scoreChange.priority == 18)
    }
}
