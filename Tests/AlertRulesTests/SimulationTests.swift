import AlertRules
import Testing

/// Noise, as in the reference's simulations (alerting §2.2): the figures there are medians and false alarms a week.
@Suite("ratio in noise")
struct SimulationTests {
    private func noise(_ random: inout Seeded, minutes: Int, rate: Int64, share: (Int) -> Double) -> [AttemptCounts] {
        (0..<minutes).map { minute in
            let attempts = Int64.random(in: 0...(2 * rate), using: &random)
            return AttemptCounts(attempts: attempts, bad: random.binomial(attempts, share(minute)))
        }
    }

    private func firings(_ rule: AlertRule, _ minutes: [AttemptCounts]) -> [Int] {
        let history = GroupHistory(series: MinuteSeries(first: Make.start, minutes: minutes))
        return Make.transitions(rule, history).filter { $0.kind == .fired }.map { $0.firedAt - Make.start }
    }

    @Test("two weeks at 1 % with a blip every six hours give no alarm", arguments: [2, 20] as [Int64])
    func noFalseAlarm(rate: Int64) {
        var random = Seeded(seed: 101)
        let minutes = noise(&random, minutes: 14 * 1440, rate: rate) { $0 % 360 == 200 ? 1 : 0.01 }
        #expect(firings(Make.outage(), minutes) == [], "seed 101")
    }

    @Test("an incident is found", arguments: [(20, 1.0, 15), (20, 0.07, 20), (20, 0.2, 16), (2, 1.0, 16)] as [(Int64, Double, Int)])
    func detection(rate: Int64, share: Double, median: Int) throws {
        var random = Seeded(seed: 102)
        let delays = (0..<60).map { _ -> Int in
            let minutes = noise(&random, minutes: 240, rate: rate) { $0 < 60 ? 0.01 : share }
            return (firings(Make.outage(), minutes).first { $0 > 60 } ?? 10_000) - 60
        }.sorted()
        #expect(delays[30] >= 14 && delays[30] <= median, "seed 102: median \(delays[30])")
        #expect(delays[57] < 180, "seed 102: 95 of 100 within \(delays[57]) minutes")
    }
}
