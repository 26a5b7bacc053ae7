import AlertRules
import PushContract
import Testing

@testable import Alerting

@Suite("The plan of an evaluation, without a database")
struct EvaluationPlanTests {
    /// Healthy, failing and silent stretches of random length.
    private func trace(_ random: inout Seeded, minutes: Int) -> [AttemptCounts] {
        var trace: [AttemptCounts] = []
        while trace.count < minutes {
            let share = [0, 0, 1, 4, 6, 12, 100].randomElement(using: &random) ?? 0
            let volume = Int64([0, 3, 40, 200].randomElement(using: &random) ?? 0)
            for _ in 0..<Int.random(in: 2...40, using: &random) {
                let attempts = volume == 0 ? 0 : Int64.random(in: max(1, volume / 2)...volume, using: &random)
                trace.append(AttemptCounts(attempts: attempts, bad: attempts * Int64(share) / 100))
            }
        }
        return Array(trace.prefix(minutes))
    }

    private func history(_ trace: some Collection<AttemptCounts>) -> [GroupHistory] {
        let group = GroupKey([.provider: "fcm"])
        let series = MinuteSeries(first: Traffic.start, minutes: trace)
        return [GroupHistory(group: group, strata: [StratumHistory(key: group, series: series, days: [])])]
    }

    @Test("whatever the rhythm of evaluations, what is emitted is what one fold over everything gives", arguments: 1...60)
    func rhythm(_ seed: Int) {
        var random = Seeded(state: UInt64(seed))
        let rule = Rules.provider5xx
        let whole = trace(&random, minutes: 400)
        let end = Traffic.start + 399
        let begin = Traffic.start - 1
        let expected = RuleEvaluation.fold(rule, history(whole)[0], from: AlertState(asOf: begin), through: end)
        var checkpoint = RuleCheckpoint(asOf: begin, replacesVersion: false, states: [:])
        var emitted: [Transition] = []
        var open: FiringAlert?
        while let asOf = checkpoint.asOf, asOf < end {
            let last = min(end, asOf + Int.random(in: 1...30, using: &random))
            var planning = EvaluationPlanning(rule, checkpoint, last: last, recompute: 10, initialLookbackMinutes: 14 * 1440)
            history(whole.prefix(last - Traffic.start + 1)).forEach { planning.add($0) }
            let plan = planning.finished()
            emitted += plan.transitions
            open = plan.open[GroupKey([.provider: "fcm"])]
            checkpoint = RuleCheckpoint(asOf: last, replacesVersion: false, states: plan.states)
        }
        #expect(emitted == expected.transitions)
        #expect(open == expected.state.open)
    }

    @Test("beginnings and ends always take turns")
    func turns() {
        for seed in 1...60 {
            var random = Seeded(state: UInt64(seed))
            let fold = RuleEvaluation.fold(Rules.provider5xx, history(trace(&random, minutes: 600))[0], through: Traffic.start + 599)
            for (index, transition) in fold.transitions.enumerated() {
                #expect((transition.kind == .resolved) == !index.isMultiple(of: 2))
            }
        }
    }
}
