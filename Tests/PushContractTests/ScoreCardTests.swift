import PushContract
import Testing

@Suite("The score card")
struct ScoreCardTests {
    private var state: UnifiedDisplayState {
        UnifiedDisplayState(
            matchId: "m1",
            seq: 1,
            phase: "live",
            title: "RR v KKR",
            event: "IPL 2022",
            status: "KKR need 40 from 24",
            innings: [
                .init(no: 1, team: "RR", runs: 217, wickets: 5, overs: "20.0", closed: true),
                .init(no: 2, team: "KKR", runs: 178, wickets: 10, overs: "16.0", target: 218),
            ],
            batters: [.init(name: "SS Iyer", line: "85 (50)", strike: true), .init(name: "VR Iyer", line: "6 (6)")],
            bowler: .init(name: "YS Chahal", line: "3-0-38-1"),
            recent: ["1", "4", "W"],
            crr: "11.13",
            rrr: "10.00",
            key: .init(type: "wicket", priority: 5, text: "WICKET! VR Iyer"),
            updatedAt: 0
        )
    }

    @Test("every part of a state has its text")
    func texts() {
        let card = ScoreCard(state)
        #expect(card.title == "RR v KKR" && card.event == "IPL 2022" && card.status == "KKR need 40 from 24")
        #expect(card.innings == ["RR 217/5 (20.0)", "KKR 178 (16.0)"])
        #expect(card.batters == ["SS Iyer* 85 (50)", "VR Iyer 6 (6)"])
        #expect(card.bowler == "YS Chahal 3-0-38-1" && card.recent == "1 4 W" && card.rates == "CRR 11.13  RRR 10.00")
        #expect(card.headline == "WICKET! VR Iyer" && !card.isOver)
    }

    @Test("what a state lacks is left out, a super over is marked, and the end is known")
    func sparse() {
        let innings = [UnifiedDisplayState.Innings(no: 3, team: "MI", runs: 5, wickets: 1, overs: "1.0", superOver: true)]
        let bare = UnifiedDisplayState(
            matchId: "m1",
            seq: 1,
            phase: "ended",
            title: "A v B",
            status: "A won",
            innings: innings,
            updatedAt: 0
        )
        let card = ScoreCard(bare)
        #expect(card.innings == ["MI 5/1 (1.0) super over"] && card.isOver)
        #expect(card.event == nil && card.bowler == nil && card.recent == nil && card.rates == nil && card.headline == nil)
    }
}
