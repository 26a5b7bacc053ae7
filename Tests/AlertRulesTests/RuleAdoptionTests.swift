import AlertRules
import Testing

@Suite("Taking up a rule")
struct RuleAdoptionTests {
    private let past = Make.history([(60, 100, 0), (20, 100, 10), (200, 100, 0)])
    private let present = Make.history([(60, 100, 0), (20, 100, 50), (200, 100, 0), (30, 100, 10)])
    private let stricter = Make.outage { $0.above = Fraction(20, 100) }

    private func adopt(_ rule: AlertRule, _ history: GroupHistory, previous: OpenEpisode? = nil) -> Fold {
        RuleAdoption.adopt(rule, history, previous: previous, through: history.total.end - 1)
    }

    private var open: OpenEpisode? {
        RuleEvaluation.fold(Make.outage(), present, through: present.total.end - 1).state.open
    }

    @Test("what was over before the rule came is not announced")
    func over() {
        let fold = adopt(Make.outage(), past)
        #expect(fold.transitions.isEmpty && fold.state == LatchState(asOf: past.total.end - 1))
    }

    @Test("a condition that holds already is announced with its true beginning")
    func holding() {
        let fold = adopt(Make.outage(), present)
        #expect(fold.transitions.map(\.kind) == [.fired])
        #expect(fold.transitions.map { $0.startsAt - Make.start } == [280] && fold.state.open != nil)
    }

    @Test("an episode goes on when both versions fire")
    func continued() throws {
        var before = try #require(open)
        before.startsAt = Make.start + 270
        before.firedAt = Make.start + 290
        let fold = adopt(Make.outage { $0.minBad = 11 }, present, previous: before)
        #expect(fold.transitions.isEmpty)
        #expect(fold.state.open?.firedAt == before.firedAt && fold.state.open?.startsAt == before.startsAt)
    }

    @Test("an episode ends when only the former version fired")
    func changed() throws {
        let before = try #require(open)
        let fold = adopt(stricter, present, previous: before)
        #expect(fold.transitions.map(\.reason) == [.ruleChanged] && fold.state.open == nil)
        #expect(fold.transitions.first?.ruleVersion == stricter.version && fold.transitions.first?.firedAt == before.firedAt)
    }
}
