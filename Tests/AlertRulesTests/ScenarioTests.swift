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
        "a backlog, its age, traffic, unknown codes and devices that return: each fault is found, and nothing false in what is usual",
        arguments: [0, 1, 2, 3, 4]
    )
    func series(_ index: Int) throws {
        let run = SeriesScenario(weeks: 2, faults: 6)
        let rule: AlertRule =
            switch index {
            case 0: Make.rule(.backlog(BacklogCondition(above: 1000, for: RuleDuration(minutes: 15))), by: [.provider])
            case 1: Make.rule(.firstSight(FirstSightCondition()), by: FirstSightCondition.by)
            case 2: Make.rule(.queueAge(QueueAgeCondition(above: RuleDuration(minutes: 2), for: RuleDuration(minutes: 5))), by: [.provider])
            case 3: Make.rule(.trafficDrop(TrafficDropCondition(below: Fraction(3, 10), for: RuleDuration(minutes: 30))), by: [.app])
            default: Make.rule(.reregistration(ReregistrationCondition(below: Fraction(1, 2))), by: [.provider])
            }
        let result = try #require(run.result(rule))
        #expect(result.falseAlarmsPerWeek == 0 && result.detection.found == 1, "\(result)")
        // Faults begin at any time, also where few attempts are usual. A queue grows for a quarter of an hour first; a code is seen at
        // once; half a day of devices must stay away.
        let latest = [40, 5, 8, 60, 24 * 60][index]
        #expect((result.detection.medianDelay ?? .max) <= latest && (result.detection.medianDelay ?? 0) > 0, "\(result)")
        #expect(run.result(Make.outage()) == nil && run.result(Make.spike()) == nil)
    }

    @Test("every shipped rule and every example has a row: a share, a baseline, or a fault of its own kind")
    func everyRule() {
        let rules = [ShippedRulesTests.alerts, ShippedRulesTests.examples].flatMap { AlertsDirectory(path: $0).ruleSet().rules }
        #expect(rules.count > 13)
        for rule in rules {
            let rows = [
                ScenarioRun(weeks: 1, faults: 1).result(rule, .slight).map { _ in "share" },
                BaselineScenario(weeks: 1, faults: 1).result(rule, .fiftieth).map { _ in "baseline" },
                SeriesScenario(weeks: 1, faults: 1).result(rule).map { _ in "own" },
            ].compactMap { $0 }
            #expect(rows.count == 1, "\(rule.name): \(rows)")
        }
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
