/// The healthy share of each stratum of a group, from the whole UTC days before a window (§2.4).
///
/// Shares stay the same for a day, so they are computed once and kept. Belongs to one fold; not for use from two threads.
final class Baseline1Shares {
    private struct CacheKey: Hashable {
        var lastDay: Int64
        var acceptance: Int?
    }

    private let condition: BaselineCondition
    private let strata: [StratumHistory]
    private let acceptances: [BaselineAcceptance]
    private let levels: [AcceptedBaseline]
    private var known: [CacheKey: [Double]] = [:]

    init(_ condition: BaselineCondition, strata: [StratumHistory], acceptances: [BaselineAcceptance] = []) {
        self.condition = condition
        self.strata = strata
        self.acceptances = acceptances.sorted { $0.from < $1.from }
        levels = self.acceptances.enumerated().map { AcceptedBaseline($1, index: $0) }
    }

    /// In the order of the strata, for a window.
    func shares(from first: Minute, through last: Minute) -> [Double] {
        // The newest one is in force; when it is removed, the one before it is in force again.
        let level = acceptances.lastIndex { $0.isInForce(at: last) }.map { levels[$0] }
        return shares(forWindowFrom: first, level)
    }

    /// From days that ended at least `gap` before the window.
    private func shares(forWindowFrom first: Minute, _ level: AcceptedBaseline?) -> [Double] {
        let lastDay = (first - condition.gap.minutes).day - 1
        let key = CacheKey(lastDay: lastDay, acceptance: level?.index)
        if let shares = known[key] { return shares }
        let shares = compute(lastDay: lastDay, level)
        known[key] = shares
        return shares
    }

    private func compute(lastDay: Int64, _ level: AcceptedBaseline?) -> [Double] {
        let days = (lastDay - Int64(condition.referenceDays) + 1)...lastDay
        let counts = strata.map { stratum in
            stratum.days.filter { days.contains($0.day) }.map { day in
                let accepted = level.flatMap { day.day <= $0.from.day ? $0[stratum.key] : nil }
                return (day: day.day, counts: TrainingCounts(day.counts, accepted: accepted))
            }
        }
        let cells = cells(lastDay: lastDay, level)
        func merged(_ members: some Sequence<Int>) -> [TrainingCounts] {
            let all = members.flatMap { counts[$0] }
            return Array(Dictionary(all.map { ($0.day, $0.counts) }, uniquingKeysWith: +).values)
        }
        let providers = strata.map { $0.key[.provider] ?? "" }
        var parents: [String: Double] = [:]
        for provider in Set(providers) {
            let own = merged(providers.indices.filter { providers[$0] == provider })
            parents[provider] = max(Self.share(of: own, condition), condition.minShare.double)
        }
        func share(of members: [Int], towards parent: Double) -> Double {
            let own = merged(members)
            return Self.shrunk(Self.share(of: own, condition), attempts: own.reduce(0) { $0 + $1.attempts }, towards: parent, condition)
        }
        let shares = cells.members.indices.map { cell in
            let provider = parents[providers[cells.members[cell][0]]] ?? condition.minShare.double
            let family = cells.parents[cell]
            return share(of: cells.members[cell], towards: family.isEmpty ? provider : share(of: family, towards: provider))
        }
        return strata.indices.map { index in
            // Accepted before there was a single whole day of it.
            if counts[index].allSatisfy({ $0.counts.attempts == 0 }), let accepted = level?[strata[index].key] { return accepted }
            return shares[cells.cells[index]]
        }
    }

    /// Which strata share one share, by the traffic of the training days.
    private func cells(lastDay: Int64, _ level: AcceptedBaseline?) -> StratumCells {
        let days = (lastDay - Int64(condition.referenceDays) + 1)...lastDay
        return StratumCells(
            strata.map(\.key),
            attempts: strata.map { stratum in
                stratum.days.filter { days.contains($0.day) }.reduce(0) { $0 + $1.counts.attempts }
            },
            minMajorShare: condition.minMajorShare,
            isAccepted: { level?[$0] != nil }
        )
    }

    /// A stratum with little history is shrunk towards its provider: without a failure so far, failures are still expected.
    private static func shrunk(_ share: Double, attempts: Int64, towards parent: Double, _ condition: BaselineCondition) -> Double {
        let weight = Double(condition.shrink)
        let attempts = Double(attempts)
        guard attempts + weight > 0 else { return parent }
        return (share * attempts + weight * parent) / (attempts + weight)
    }

    /// The median of the daily shares, so that up to three bad days in seven change nothing; pooled when days are few or small.
    private static func share(of days: [TrainingCounts], _ condition: BaselineCondition) -> Double {
        let shares = days.filter { $0.attempts >= max(1, condition.minAttemptsPerDay) }.compactMap(\.share)
        guard shares.count >= condition.minDays, let median = shares.median else { return days.reduce(TrainingCounts(), +).share ?? 0 }
        return median
    }
}
