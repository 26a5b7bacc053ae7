/// What the days up to one let expect: for each stratum a share with the counts it is known from.
struct Baseline2Reference {
    /// Strata that share one share.
    struct Cell {
        var bad: Double
        var attempts: Double

        /// At least the smallest share that is ever expected.
        init(_ counts: TrainingCounts, minShare: Double) {
            attempts = Double(counts.attempts)
            bad = max(counts.bad, minShare * attempts)
        }

        var share: Double { bad / attempts }
    }

    /// For each stratum its cell; nil: too little is known of it, so it is neither observed nor expected.
    var cellOf: [Int?]
    var cells: [Cell]
    /// Of the group.
    var whole: Cell
    var isReady: Bool
    var busiestHour: Int64
    var largestDay: Int64
    /// The first and last training day.
    var days: ClosedRange<Int64>

    func share(stratum: Int) -> Double? { cellOf[stratum].map { cells[$0].share } }
}

/// The attempts of one day of a group without those of hours that are excluded from training.
struct TrainingDay {
    var day: Int64
    var strata: [TrainingCounts]
    var total: TrainingCounts
    var busiestHour: Int64
}

/// Computes a reference from the training days.
struct Baseline2Training {
    let condition: BaselineCondition
    let keys: [GroupKey]
    /// Newest first; days with too few attempts are not among them.
    let days: [TrainingDay]
    let level: AcceptedBaseline?

    private var minShare: Double { condition.minShare.double }

    /// Nil without a training day.
    func reference() -> Baseline2Reference? {
        let list = Array(days.prefix(Baseline2.trainingDays))
        guard let newest = list.first, let oldest = list.last else { return nil }
        let kept = withoutOutliers(list)
        let latest = days.count < Baseline2.youngDays ? Array(list.prefix(2)) : []
        let assignment = assignment(kept)
        let cells = assignment.members.map { members in
            cell(counts(kept, members), latest: counts(latest, members))
        }
        let all = Array(keys.indices)
        return Baseline2Reference(
            cellOf: assignment.cellOf,
            cells: cells,
            whole: cell(counts(kept, all), latest: counts(latest, all)),
            isReady: list.count == Baseline2.trainingDays && list.reduce(0) { $0 + $1.total.attempts } >= Baseline2.readyAttempts,
            busiestHour: list.map(\.busiestHour).max() ?? 0,
            largestDay: list.map(\.total.attempts).max() ?? 0,
            days: oldest.day...newest.day
        )
    }

    /// A young group's share is at least that of its last two days.
    private func cell(_ counts: TrainingCounts, latest: TrainingCounts) -> Baseline2Reference.Cell {
        guard let share = counts.share else { return Baseline2Reference.Cell(counts, minShare: minShare) }
        // By more than rounding: after a level was accepted, all days have it.
        let isAbove = (latest.share ?? 0) > share * Baseline2.rounding
        return Baseline2Reference.Cell(isAbove ? latest : counts, minShare: minShare)
    }

    private func counts(_ days: [TrainingDay], _ members: [Int]) -> TrainingCounts {
        days.reduce(TrainingCounts()) { sum, day in members.reduce(sum) { $0 + day.strata[$1] } }
    }

    /// Days that would have fired against the others, at most three, and at most a third of the attempts.
    private func withoutOutliers(_ days: [TrainingDay]) -> [TrainingDay] {
        var kept = days
        let all = days.reduce(0) { $0 + $1.total.attempts }
        for _ in 0..<3 {
            guard kept.count > 1,
                let worst = kept.indices.max(by: { (kept[$0].total.share ?? 0) < (kept[$1].total.share ?? 0) })
            else { break }
            var others = kept
            let day = others.remove(at: worst).total
            let dropped = all - others.reduce(0) { $0 + $1.total.attempts }
            let known = Baseline2Reference.Cell(others.reduce(TrainingCounts()) { $0 + $1.total }, minShare: minShare)
            var expectation = Expectation()
            expectation.add(day.attempts, known)
            guard dropped * 3 <= all, day.bad >= Double(condition.minBad),
                day.bad > condition.above.double * expectation.expected * Baseline2.rounding,
                expectation.tail(atLeast: day.bad, chance: Baseline2.rungs[0].chance) < condition.alpha.double
            else { break }
            kept = others
        }
        return kept
    }

    /// A stratum has a share of its own, that of its family (all major versions of the app), or that of the rest; one that is new has none.
    private func assignment(_ days: [TrainingDay]) -> (cellOf: [Int?], members: [[Int]]) {
        func isKnown(_ members: [Int]) -> Bool {
            let own = days.map { day in members.reduce(0) { $0 + day.strata[$1].attempts } }
            return own.count { $0 > 0 } >= Baseline2.stratumDays && own.reduce(0, +) >= Baseline2.readyAttempts
        }
        var cellOf = [Int?](repeating: nil, count: keys.count)
        var members: [[Int]] = []
        func assign(_ strata: [Int], shareOf sources: [Int]) {
            for stratum in strata { cellOf[stratum] = members.count }
            members.append(sources)
        }
        var rest: [Int] = []
        var families: [GroupKey: [Int]] = [:]
        for (index, key) in keys.enumerated() {
            var family = key
            family.values[.appMajor] = nil
            families[family, default: []].append(index)
            if isKnown([index]) || level?[key] != nil && days.contains(where: { $0.strata[index].attempts > 0 }) {
                assign([index], shareOf: [index])
            }
        }
        for (_, family) in families.sorted(by: { $0.key < $1.key }) {
            let small = family.filter { cellOf[$0] == nil }
            if small.isEmpty { continue }
            if family.count > 1, isKnown(family) { assign(small, shareOf: family) } else { rest += small }
        }
        let known = rest.sorted().filter { index in days.count { $0.strata[index].attempts > 0 } >= Baseline2.stratumDays }
        if isKnown(known) { assign(known, shareOf: known) }
        return (cellOf, members)
    }
}
