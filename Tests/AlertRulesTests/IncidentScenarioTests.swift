import AlertRules
import Testing

/// The bounds of decision 0024 on fresh seeds, in short; `pushwatch-dev scenarios --incidents` prints the whole tables.
@Suite("Incidents of a known share")
struct IncidentScenarioTests {
    private static let page = [Make.outage(version: .one) { $0.resolveWithin = RuleDuration(minutes: 120) }, Make.outage()]

    /// The 1 % rule as it ships.
    private static let auth: AlertRule = {
        var ratio = RatioCondition(reasons: ["auth"], above: Fraction(1, 100), for: RuleDuration(minutes: 10))
        ratio.guardConfidence = .percent999
        return Make.rule(.ratio(ratio))
    }()

    private static func sum(_ cells: [IncidentScenario], runs: Int, seed: UInt64) -> [IncidentScenario.Result] {
        var sums = page.map { _ in IncidentScenario.Result() }
        for (index, cell) in cells.enumerated() {
            for (version, result) in cell.results(page, runs: runs, seed: seed + UInt64(index)).enumerated() {
                sums[version].add(result)
            }
        }
        return sums
    }

    @Test("an incident of a day is one alert: hardly a false end, and no second page")
    func oneAlert() {
        let cells = [6.0, 10, 20].flatMap { rate in [1.5, 2].map { IncidentScenario(rate: rate, multiple: $0, minutes: 1440) } }
        let sums = Self.sum(cells, runs: 3, seed: 90_001)
        #expect(sums[0].falseResolves > 40 && sums[0].secondPages > 40, "ratio/1 shows what this measures: \(sums[0])")
        #expect(sums[1].falseResolves <= 1 && sums[1].secondPages == 0, "\(sums[1])")
    }

    @Test("an outage of 11 minutes does not page after its end")
    func over() {
        let cells = [0.5, 1, 3, 6, 10, 20, 50, 100, 1000].map { IncidentScenario(rate: $0, multiple: nil, minutes: 11) }
        let sums = Self.sum(cells, runs: 8, seed: 90_101)
        #expect(sums[0].latePages > 30, "ratio/1 shows what this measures: \(sums[0])")
        #expect(sums[1].latePages <= 1, "\(sums[1])")
    }

    @Test("a total outage is found no later than by version 1, and is over ten minutes after it", arguments: [1.0, 3, 20, 100])
    func detection(rate: Double) throws {
        let results = IncidentScenario(rate: rate, multiple: nil, minutes: 120).results(Self.page, runs: 9, seed: 90_201)
        let (one, two) = (try #require(results[0].medianDelay), try #require(results[1].medianDelay))
        #expect(two <= one && results[1].delays.count >= results[0].delays.count)
        #expect(try #require(results[1].medianRecovery) <= (rate < 3 ? 20 : 15))
    }

    @Test("three weeks of healthy traffic with blips and campaigns page nobody", arguments: [1.0, 20])
    func healthy(rate: Double) {
        for rule in [Make.outage(), Self.auth] {
            #expect(IncidentScenario.healthyPages([rule], rate: rate, weeks: 3, seed: 90_301) == [0])
        }
        let hasty = Make.outage(version: .one) { ratio in
            (ratio.duration, ratio.smooth) = (RuleDuration(minutes: 1), RuleDuration(minutes: 1))
            ratio.minBadSmooth = 1
        }
        let blips = IncidentScenario.healthyPages([hasty], rate: 100, weeks: 1, seed: 90_301)
        #expect(blips == [28], "a rule that is met by one minute shows what this measures")
    }
}
