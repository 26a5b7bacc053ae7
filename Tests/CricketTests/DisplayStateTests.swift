import Foundation
import PushContract
import ServiceKit
import Testing

@testable import Cricket

/// What every follower sees (L-06, L-07, reference §5.5).
@Suite
struct DisplayStateTests {
    private func script() throws -> MatchScript {
        try MatchNotation(
            overs: 2,
            outcome: ["winner": "Birch City", "by": ["wickets": 10]],
            innings: [
                .init(team: "Ash Town", overs: ["Yew: 4 . W 1 wd 6 .", "Fir: 1 lb2 . . 4 ."]),
                .init(team: "Birch City", overs: ["Ivy: 6 6 4 1 2 1"]),
            ]
        ).script()
    }

    @Test("a default JSONDecoder reads the canonical bytes back into the same state (L-06)")
    func decodes() throws {
        for change in Sample.play(Sample.feed(try script())) {
            let decoded = try JSONDecoder().decode(UnifiedDisplayState.self, from: Data(change.bytes))
            #expect(decoded == change.display)
            #expect(decoded.canonicalJSON == change.bytes)
            #expect(change.bytes.count <= DisplayBudget.bytes)
        }
    }

    @Test("the state of a ball in the first innings, and of one in the chase")
    func states() throws {
        let changes = Sample.play(Sample.feed(try script()))
        let first = try #require(changes.first { $0.display.innings.first?.overs == "0.5" }?.display)
        #expect(
            String(decoding: first.canonicalJSON, as: UTF8.self)
                == #"{"v":1,"matchId":"m1","seq":8,"phase":"live","title":"AT v BC","event":"Tree Cup · Match 1","status":"AT batting","innings":[{"no":1,"team":"AT","runs":12,"wickets":1,"overs":"0.5"}],"batters":[{"name":"A Player 2","line":"6 (1)","strike":true},{"name":"A Player 3","line":"1 (1)"}],"bowler":{"name":"Yew","line":"0.5-0-12-1"},"recent":["4","·","W","1","wd","6"],"crr":"14.40","key":{"type":"six","priority":12,"text":"SIX! A Player 2 off Yew","ball":"0.5"},"tier":1,"updatedAt":1800000240}"#
        )
        let chase = try #require(changes.first { $0.display.innings.count == 2 && $0.display.innings[1].runs == 12 }?.display)
        #expect(chase.status == "BC need 8 from 10")
        #expect(chase.rrr == "4.80")
        #expect(chase.innings[1].target == 20)
    }

    @Test("feeds without balls show tier 0 and no recent balls (L-24)")
    func tiers() throws {
        let changes = Sample.play(Sample.feed(try script(), detail: .scores))
        #expect(changes.allSatisfy { $0.display.tier == 0 && $0.display.recent.isEmpty })
        #expect(changes.count(.wicket) == 1 && changes.count(.matchEnd) == 1)
        #expect(changes.events.allSatisfy { $0.type.tier == 0 })
    }

    @Test("the hash does not depend on seq and updatedAt, and on everything else")
    func hash() throws {
        let state = try #require(Sample.play(Sample.feed(try script())).last?.display)
        var other = state
        other.seq += 1
        other.updatedAt += 100
        #expect(other.contentHash == state.contentHash)
        other.status += "!"
        #expect(other.contentHash != state.contentHash)
        #expect(state.contentHash.count == 64)
    }

    @Test("seq and timestamps rise strictly, also when the clock stops or goes back (L-07)")
    func rising() throws {
        var memory = MatchMemory()
        var states: [UnifiedDisplayState] = []
        for (index, message) in Sample.feed(try script()).messages.enumerated() {
            let now = Timestamp(seconds: 1_800_000_000 - Int64(index % 3) * 50)
            guard case .changed(let change) = MatchProgress.step(memory, with: Sample.feed(try script()).score(of: message), now: now)
            else { continue }
            memory = change.memory
            states.append(change.display)
        }
        #expect(states.count > 15)
        #expect(zip(states, states.dropFirst()).allSatisfy { $0.seq + 1 == $1.seq && $0.updatedAt < $1.updatedAt })
    }

    @Test("any names and texts fit the budget, cut between characters, what is missed least first", arguments: 0..<60)
    func budget(seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        let alphabet = ["a", "Ö", "\"", "\\", "漢", "👩‍👩‍👧‍👦", "🇩🇪", "é", "\u{1F3CF}", " "]
        func text(_ limit: Int) -> String {
            var text = ""
            while text.unicodeScalars.count < limit {
                let next = alphabet[random.below(alphabet.count)]
                guard text.unicodeScalars.count + next.unicodeScalars.count <= limit else { break }
                text += next
            }
            return text.isEmpty ? "x" : text
        }
        let shorts = ["A" + text(11), "B" + text(11)]
        let batters = [
            BatterCard(name: text(100), runs: 999, balls: 4_999, onStrike: true), BatterCard(name: "z" + text(99), runs: 999, balls: 4_999),
        ]
        var score = Sample.score(1)
        score.matchId = String(repeating: "m", count: 64)
        score.teams = shorts.map { MatchScore.Team(name: text(100), short: $0) }
        score.title = text(100)
        score.event = text(100)
        score.status = text(200)
        score.innings = (1...(1 + random.below(20))).map { number in
            var innings = Sample.innings(number, 4_999, 30, "999.5", closed: true, superOver: true, target: 4_999)
            innings.team = shorts[number % 2]
            innings.batters = batters
            innings.bowlers = [BowlerCard(name: text(100), overs: Overs("99.5")!, runs: 1_999, wickets: 30, bowling: true)]
            return innings
        }
        score.innings[score.innings.count - 1].closed = nil
        let key = MatchEvent(.wicket, innings: 1, mark: 1, ball: "999.5", text: text(400), at: Sample.now)
        score = try MatchScore.read(json: Array(score.json))
        var state = DisplayStateBuilder(score: score, window: BallWindow(balls: (1...6).map { Sample.ball($0, 4) }), key: key, tier: 1)
            .state()
        state.seq = .max
        state.updatedAt = .max
        #expect(state.canonicalJSON.count <= DisplayBudget.bytes)
        #expect(try JSONDecoder().decode(UnifiedDisplayState.self, from: Data(state.canonicalJSON)) == state)
        if state.bowler != nil { #expect(state.batters.map(\.name) == batters.map(\.name), "names go last") }
    }
}
