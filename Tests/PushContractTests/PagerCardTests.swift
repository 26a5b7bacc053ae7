import Foundation
import PushContract
import Testing

@Suite("What a widget shows of a pager")
struct PagerCardTests {
    @Test("P-5.2, P-5.3: sender, message and time are shown, which of how many messages it is, and whether it is a demonstration")
    func card() throws {
        let pushed = #"{"sender":"Ops","message":"Disk full","timestamp":1795168859,"isDemo":true,"messageIndex":1,"totalMessages":5}"#
        let state = try JSONDecoder().decode(PagerActivityAttributes.ContentState.self, from: Data(pushed.utf8))
        let card = PagerCard(state)
        #expect(card.sender == "Ops" && card.message == "Disk full")
        #expect(card.time == "10:00")
        #expect(card.position == "2 of 5")
        #expect(card.badge == "Demo")
        #expect(PagerCard(state, utcOffset: 5 * 3600 + 1800).time == "15:30")
        #expect(PagerCard(state, utcOffset: -11 * 3600).time == "23:00", "the evening before")
    }

    @Test(
        "a single message has no place, and one outside its number is shown as the nearest",
        arguments: [(0, 1, nil), (0, 0, nil), (0, 3, "1 of 3"), (2, 3, "3 of 3"), (9, 3, "3 of 3"), (-1, 3, "1 of 3")]
            as [(Int, Int, String?)]
    )
    func position(index: Int, total: Int, expected: String?) {
        let state = PagerActivityAttributes.ContentState(
            sender: "a",
            message: "b",
            timestamp: -1,
            isDemo: false,
            messageIndex: index,
            totalMessages: total
        )
        let card = PagerCard(state)
        #expect(card.position == expected)
        #expect(card.badge == nil)
        #expect(card.time == "23:59")
    }
}
