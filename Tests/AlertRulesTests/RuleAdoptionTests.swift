import AlertRules
import Testing

@Suite("Taking up a rule")
struct RuleAdoptionTests {
    private let past = Make.history([(60, 100, 0), (20, 100, 10), (200, 100, 0)])
    private let present = Make.history([(60, 100, 0), (20, 100, 50), (200, 100, 0), (30, 100, 10)])

    private func announced(_ history: GroupHistory) -> [Transition] {
        RuleAdoption.announced(RuleEvaluation.fold(Make.outage(), history, through: history.total.end - 1))
    }

    @Test("what was over before the rule came is not announced")
    func over() {
        #expect(announced(past).isEmpty)
    }

    @Test("a condition that holds already is announced with its true beginning")
    func holding() {
        let transitions = announced(present)
        #expect(transitions.map(\.kind) == [.fired])
        #expect(transitions.map { $0.startsAt - Make.start } == [280])
    }
}
