import AlertRules
import Testing

@Suite("Scenarios of the reference")
struct ScenarioTests {
    private let run = ScenarioRun(weeks: 1, faults: 9)

    @Test("the order of the reference: nothing false in health, blips and campaigns; an outage at minute 15, a slight fault a little later")
    func order() throws {
        let rule = Make.outage()
        for scenario in [RuleScenario.healthy, .blip, .quietBlip, .campaign] {
            #expect(run.result(rule, scenario)?.falseAlarmsPerWeek == 0, "\(scenario)")
        }
        let outage = try #require(run.result(rule, .outage))
        let quiet = try #require(run.result(rule, .quietOutage))
        let slight = try #require(run.result(rule, .slight))
        #expect(outage.medianDelay == 15 && outage.found == 1)
        #expect((quiet.medianDelay ?? 0) <= 18 && quiet.found == 1)
        #expect((slight.medianDelay ?? 0) >= 15 && (slight.found ?? 0) > 0.9)
        #expect(run.result(Make.spike(), .healthy) == nil, "a baseline learns from days")
    }
}
