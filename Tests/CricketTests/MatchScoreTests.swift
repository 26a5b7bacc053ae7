import Foundation
import PushContract
import Testing

@testable import Cricket

/// The score feed's format: strict, and precise about what is wrong.
@Suite
struct MatchScoreTests {
    private static let good = """
        {"matchId":"m1","sequence":7,"updatedAt":"2026-11-21T15:04:05Z","event":"Cup","phase":"live","ballsPerOver":6,
         "teams":[{"name":"Ash Town","short":"AT"},{"name":"Birch City","short":"BC"}],
         "innings":[{"number":1,"team":"AT","runs":31,"wickets":1,"overs":"3.2",
           "batters":[{"name":"Oak","runs":20,"balls":12,"state":"batting","onStrike":true},{"name":"Ash","runs":3,"balls":4,"state":"out","dismissal":"b Elm"}],
           "bowlers":[{"name":"Elm","overs":"1.2","runs":12,"wickets":1,"bowling":true}]}],
         "balls":[{"innings":1,"number":20,"over":3,"ball":2,"batter":"Oak","bowler":"Elm","runs":4,"extras":{"noBalls":1}}]}
        """

    @Test("a state reads and writes back the same")
    func roundTrip() throws {
        let score = try MatchScore.read(json: Array(Self.good.utf8))
        #expect(score.innings[0].overs == Overs(completed: 3, balls: 2))
        #expect(score.balls?[0].total == 5)
        #expect(try MatchScore.read(json: Array(score.json)) == score)
    }

    @Test("each state of an answer is read by itself; what is wrong with one has its place in the answer")
    func answer() throws {
        let wrong = Self.good.replacing(#""phase":"live""#, with: #""phase":"playing""#)
        let read = MatchScore.readAll(try MatchScore.parse(Array("[\(wrong),\(Self.good)]".utf8)))
        #expect(read.map { (try? $0.get())?.matchId } == [nil, "m1"])
        let fault = #expect(throws: FeedError.self) { try read[0].get() }
        #expect(fault?.pointer == "/0/phase")
    }

    @Test(
        "what is wrong is named with its place",
        arguments: [
            (#""sequence":7"#, #""sequence":"7""#, "/sequence", "invalid"),
            (#""phase":"live""#, #""phase":"playing""#, "/phase", "invalid"),
            (#""matchId":"m1""#, #""matchId":"league/7""#, "/matchId", "invalid"),
            (#""matchId":"m1","#, "", "/matchId", "missing_field"), (#""event":"Cup""#, #""evnet":"Cup""#, "/evnet", "unknown_field"),
            (#""overs":"3.2""#, #""overs":3.2"#, "/innings/0/overs", "invalid"),
            (#""overs":"3.2""#, #""overs":"3.9""#, "/innings", "invalid"),
            (#""team":"AT""#, #""team":"XX""#, "/innings", "invalid"), (#""runs":31"#, #""runs":-1"#, "/innings/0/runs", "invalid"),
            (#""state":"out""#, #""state":"gone""#, "/innings/0/batters/1/state", "invalid"),
            (#""number":20"#, #""number":0"#, "/balls/0/number", "invalid"),
            (#""noBalls":1"#, #""noball":1"#, "/balls/0/extras/noball", "unknown_field"),
            (#""updatedAt":"2026-11-21T15:04:05Z""#, #""updatedAt":"2026-11-21""#, "/updatedAt", "invalid"),
            (#""phase":"live""#, #""phase":"ended""#, "/result", "missing_field"),
            (#""name":"Ash","#, #""name":"Oak","#, "/innings/0/batters", "invalid"),
            (#""short":"BC""#, #""short":"AT""#, "/teams", "invalid"),
            (#"{"matchId""#, #"{"matchId"#, "", "malformed_json"),
        ]
    )
    func faults(part: String, replacement: String, pointer: String, code: String) {
        let text = Self.good.replacing(part, with: replacement)
        #expect(text != Self.good)
        do {
            _ = try MatchScore.read(json: Array(text.utf8))
            Issue.record("accepted")
        } catch {
            #expect(error.pointer == pointer)
            #expect(error.code == code)
            #expect(!error.detail.isEmpty)
        }
    }

    @Test("states are ordered by sequence, else by time; the same again is nothing new")
    func order() {
        var first = Sample.score(5)
        var second = Sample.score(6)
        #expect(second.supersedes(first) && !first.supersedes(second) && !first.supersedes(first))
        second.updatedAt = first.updatedAt + .seconds(-60)
        #expect(second.supersedes(first), "the sequence decides where both have one")
        first.sequence = nil
        #expect(!second.supersedes(first) && first.supersedes(second))
    }

    @Test("of two states of one moment play decides; the same again is nothing new")
    func oneMoment() {
        func score(_ overs: String, phase: MatchPhase = .live, result: MatchResult? = nil) -> MatchScore {
            var score = Sample.score(5, phase: phase, innings: [Sample.innings(1, 90, 3, overs)], result: result)
            score.sequence = nil
            return score
        }
        let known = score("15.0")
        let ended = score("15.0", phase: .ended, result: MatchResult(outcome: .win, winner: "AT"))
        #expect(ended.supersedes(known) && !known.supersedes(ended))
        #expect(!known.supersedes(known) && !score("14.5").supersedes(known) && known.supersedes(score("14.5")))
        var reworded = known
        reworded.status = "Drinks"
        #expect(reworded.supersedes(known))
    }

    @Test("after the end only the final state may be corrected")
    func afterTheEnd() {
        let ended = Sample.score(
            5,
            phase: .ended,
            innings: [Sample.innings(1, 90, 3, "20.0")],
            result: MatchResult(outcome: .win, winner: "AT")
        )
        guard case .changed(let change) = MatchProgress.step(MatchMemory(), with: ended, now: Sample.now) else {
            Issue.record("no state")
            return
        }
        guard case .afterTheEnd = MatchProgress.step(change.memory, with: Sample.score(6), now: Sample.now) else {
            Issue.record("play went on")
            return
        }
        let corrected = Sample.score(6, phase: .ended, result: MatchResult(outcome: .win, winner: "BC", by: .init(wickets: 1)))
        guard case .changed(let second) = MatchProgress.step(change.memory, with: corrected, now: Sample.now) else {
            Issue.record("not corrected")
            return
        }
        #expect(second.display.status == "BC won by 1 wicket")
        #expect(second.events.filter { $0.type == .matchEnd }.isEmpty)
    }
}
