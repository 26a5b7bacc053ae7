import Foundation

/// Synthetic days of one group: a daily curve of ± 60 %, days that differ by 20 % in volume and share, hours by 15 % in share, and on half
/// of the days an hour of five times the traffic, of which 1.5 times as many fail.
///
/// Counted by slots of five minutes, since a baseline decides no more often.
struct BaselineTraffic {
    /// What a minute of a run has more or less than usual.
    typealias Shape = (_ minute: Int) -> (volume: Double, share: Double)

    static let slot = 5

    /// Attempts a minute.
    var rate: Double
    var share: Double
    var days: Int
    var shape: Shape = { _ in (1, 1) }
    /// The share that fails in some minutes whatever is usual, in place of a multiple of it.
    var fixedShare: (_ minute: Int) -> Double? = { _ in nil }

    func history(_ random: inout SeededGenerator) -> GroupHistory {
        var minutes: [AttemptCounts] = []
        minutes.reserveCapacity(days * 1440)
        for day in 0..<days {
            let volume = random.factor(variation: 0.2)
            let level = random.factor(variation: 0.2)
            let campaign = Bool.random(using: &random) ? Int.random(in: 0..<24, using: &random) : nil
            var hourly = 1.0
            for minuteOfDay in stride(from: 0, to: 1440, by: Self.slot) {
                if minuteOfDay % 60 == 0 { hourly = random.factor(variation: 0.15) }
                let minute = day * 1440 + minuteOfDay
                let isCampaign = campaign == minuteOfDay / 60
                let (more, worse) = shape(minute)
                let curve = 1 - 0.6 * cos(Double(minuteOfDay) / 1440 * 2 * Double.pi)
                let attempts = rate * Double(Self.slot) * curve * volume * more * (isCampaign ? 5 : 1)
                let bad = min(1, fixedShare(minute) ?? share * level * hourly * worse * (isCampaign ? 1.5 : 1))
                let failed = random.arrivals(attempts * bad)
                minutes.append(AttemptCounts(attempts: failed + random.arrivals(attempts * (1 - bad)), bad: failed))
                minutes += repeatElement(AttemptCounts(), count: Self.slot - 1)
            }
        }
        return GroupHistory(series: MinuteSeries(first: RuleTest.start, minutes: minutes))
    }
}
