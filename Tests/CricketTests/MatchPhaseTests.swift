import Testing

@testable import Cricket

@Suite
struct MatchPhaseTests {
    @Test("only an ended and an abandoned match are final")
    func finalPhases() {
        #expect(MatchPhase.allCases.filter(\.isFinal) == [.ended, .abandoned])
    }
}
