import Testing

@testable import Cricket

@Suite
struct MatchPhaseTests {
    @Test("only an ended and an abandoned match are final")
    func finalPhases() {
        #expect(MatchPhase.allCases.filter(\.isFinal) == [.ended, .abandoned])
    }

    @Test("followers have a match on their lock screens from its start to its end, but not overnight")
    func shownPhases() {
        #expect(MatchPhase.allCases.filter(\.isShown) == [.live, .break, .interrupted])
    }
}
