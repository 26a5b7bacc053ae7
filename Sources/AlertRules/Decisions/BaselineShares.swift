/// The healthy share of each stratum of a group, from the whole UTC days before a window (§2.4).
///
/// Shares stay the same for a day, so they are computed once a day and kept. Belongs to one fold; not for use from two threads.
final class BaselineShares {
    private let condition: BaselineCondition
    private let strata: [StratumHistory]
    private var known: [Int64: [Double]] = [:]

    init(_ condition: BaselineCondition, strata: [StratumHistory]) {
        self.condition = condition
        self.strata = strata
    }

    /// In the order of the strata, for a window that begins at `first`: days that ended at least `gap` before it.
    func shares(forWindowFrom first: Minute) -> [Double] {
        let lastDay = (first - condition.gap.minutes).day - 1
        if let shares = known[lastDay] { return shares }
        let shares = compute(lastDay: lastDay)
        known[lastDay] = shares
        return shares
    }

    private func compute(lastDay: Int64) -> [Double] {
        let days = (lastDay - Int64(condition.referenceDays) + 1)...lastDay
        let counts = strata.map { stratum in stratum.days.filter { days.contains($0.day) } }
        var parents: [String: Double] = [:]
        for provider in Set(strata.map { $0.key[.provider] ?? "" }) {
            let own = zip(strata, counts).filter { ($0.0.key[.provider] ?? "") == provider }.flatMap(\.1)
            let merged = Dictionary(own.map { ($0.day, $0.counts) }, uniquingKeysWith: +)
            parents[provider] = max(Self.share(of: Array(merged.values), condition), condition.floor.double)
        }
        return zip(strata, counts).map { stratum, days in
            shrunk(days.map(\.counts), towards: parents[stratum.key[.provider] ?? ""] ?? condition.floor.double)
        }
    }

    /// A stratum with little history is drawn towards its provider, so that nothing seen does not mean nothing expected.
    private func shrunk(_ days: [AttemptCounts], towards parent: Double) -> Double {
        let weight = Double(condition.shrink)
        let attempts = Double(days.reduce(0) { $0 + $1.attempts })
        guard attempts + weight > 0 else { return parent }
        return (Self.share(of: days, condition) * attempts + weight * parent) / (attempts + weight)
    }

    /// The median of the daily shares, so that up to three bad days in seven teach nothing; pooled when days are few or small.
    private static func share(of days: [AttemptCounts], _ condition: BaselineCondition) -> Double {
        let shares = days.filter { $0.attempts >= max(1, condition.minAttemptsPerDay) }.compactMap(\.share).sorted()
        guard shares.count >= condition.minDays else {
            return days.reduce(AttemptCounts(), +).share ?? 0
        }
        let middle = shares.count / 2
        return shares.count.isMultiple(of: 2) ? (shares[middle - 1] + shares[middle]) / 2 : shares[middle]
    }
}
