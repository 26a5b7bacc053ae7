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

    @Test(
        "the order of the reference for a baseline: hardly a false alarm at any volume; eightfold is found sooner than fourfold, and with more traffic more often"
    )
    func baseline() throws {
        let run = BaselineScenario(weeks: 2, faults: 6)
        let full = try #require(run.result(Make.spike(), .full))
        let fiftieth = try #require(run.result(Make.spike(), .fiftieth))
        #expect(full.falseAlarmsPerWeek <= 1 && fiftieth.falseAlarmsPerWeek <= 1, "\(full) \(fiftieth)")
        #expect(full.eightfold.found == 1 && full.fourfold.found >= 0.8, "\(full)")
        #expect((full.eightfold.medianDelay ?? .max) <= 60, "\(full)")
        #expect((full.eightfold.medianDelay ?? .max) <= (full.fourfold.medianDelay ?? .max), "\(full)")
        #expect(fiftieth.eightfold.found <= full.eightfold.found, "\(full) \(fiftieth)")
        #expect(run.result(Make.outage(), .full) == nil)
    }
}
