/// The healthy share of each stratum at a time of the week, from the same hours of the weeks before (§2.4).
///
/// Belongs to one fold; not for use from two threads.
final class SeasonalShares {
    private struct Slot: Hashable {
        var first: Int64
        var last: Int64
        var acceptance: Int?
        /// The newest day that teaches: it decides which strata share one share.
        var day: Int64
    }

    private let condition: BaselineCondition
    private let season: WeekSeason
    private let strata: [StratumHistory]
    /// Counts by hour, for each stratum.
    private let hours: [[Int64: AttemptCounts]]
    private var known: [Slot: [Double?]] = [:]

    init(_ condition: BaselineCondition, _ season: WeekSeason, strata: [StratumHistory]) {
        self.condition = condition
        self.season = season
        self.strata = strata
        hours = strata.map { Dictionary($0.hours.map { ($0.hour, $0.counts) }, uniquingKeysWith: +) }
    }

    /// In the order of the strata. A stratum with too few weeks has the share it has `otherwise`.
    func shares(
        from first: Minute,
        through last: Minute,
        _ level: AcceptedBaseline?,
        day: Int64,
        cells: () -> StratumCells,
        otherwise daily: [Double]
    ) -> [Double] {
        // The hours that count change with the hour of either end, by clocks that differ by whole quarters of an hour.
        let slot = Slot(first: first.index / 15, last: last.index / 15, acceptance: level?.index, day: day)
        let shares = known[slot] ?? compute(from: first, through: last, level, cells())
        known[slot] = shares
        return zip(shares, daily).map { $0 ?? $1 }
    }

    private func compute(from first: Minute, through last: Minute, _ level: AcceptedBaseline?, _ cells: StratumCells) -> [Double?] {
        let spans = (1...WeekSeason.weeks).map { season.hours(from: first, through: last, back: $0) }
        let weeks = zip(strata, hours).map { stratum, hours in
            let accepted = level?[stratum.key]
            return spans.map { span in
                span.reduce(TrainingCounts()) { sum, hour in
                    let isBefore = level.map { hour * 60 <= $0.from.index } ?? false
                    return sum + TrainingCounts(hours[hour] ?? AttemptCounts(), accepted: isBefore ? accepted : nil)
                }
            }
        }
        let providers = strata.map { $0.key[.provider] ?? "" }
        func usual(_ members: some Sequence<Int>) -> (share: Double, attempts: Int64)? {
            self.usual(spans.indices.map { week in members.reduce(TrainingCounts()) { $0 + weeks[$1][week] } }, spans)
        }
        var parents: [String: Double] = [:]
        for provider in Set(providers) {
            parents[provider] = usual(providers.indices.filter { providers[$0] == provider }).map { max($0.share, condition.floor.double) }
        }
        func share(of members: [Int], towards parent: Double) -> Double? {
            usual(members).map { BaselineShares.shrunk($0.share, attempts: $0.attempts, towards: parent, condition) }
        }
        let shares = cells.members.indices.map { cell -> Double? in
            guard let provider = parents[providers[cells.members[cell][0]]] else { return nil }
            let family = cells.parents[cell]
            return share(of: cells.members[cell], towards: family.isEmpty ? provider : share(of: family, towards: provider) ?? provider)
        }
        return cells.cells.map { shares[$0] }
    }

    /// The median over the weeks that contain enough attempts, as many as a day must contain in so many hours; nil with too few of them.
    private func usual(_ weeks: [TrainingCounts], _ spans: [ClosedRange<Int64>]) -> (share: Double, attempts: Int64)? {
        let enough = zip(weeks, spans).filter { counts, span in
            counts.attempts * 24 >= max(1, condition.minAttemptsPerDay) * Int64(span.count)
        }.map(\.0)
        guard enough.count >= WeekSeason.minWeeks else { return nil }
        let share = BaselineShares.median(ofSorted: enough.compactMap(\.share).sorted())
        return (share, enough.reduce(0) { $0 + $1.attempts })
    }
}
