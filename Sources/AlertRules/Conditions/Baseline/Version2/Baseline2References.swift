/// The references of one group, computed once for each day and each set of excluded hours.
///
/// Belongs to one fold; not for use from two threads.
final class Baseline2References {
    private struct CacheKey: Hashable {
        var day: Int64
        var masks: [UInt32]
        var trainingFrom: Int64?
        var acceptance: Int?
    }

    private let condition: BaselineCondition
    private let strata: [StratumHistory]
    private let days: [[Int64: DayCounts]]
    private let acceptances: [BaselineAcceptance]
    private var known: [CacheKey: Baseline2Reference?] = [:]

    init(_ condition: BaselineCondition, _ history: GroupHistory) {
        self.condition = condition
        strata = history.strata
        days = history.strata.map { Dictionary($0.days.map { ($0.day, $0) }, uniquingKeysWith: { first, _ in first }) }
        acceptances = history.acceptances.sorted { $0.from < $1.from }
    }

    /// The newest day on which what is decided at a minute is trained.
    static func day(at minute: Minute) -> Int64 { (minute - Baseline2.delay).day - 1 }

    /// Nil without a training day.
    func reference(day: Int64, at minute: Minute, _ memory: BaselineMemory) -> Baseline2Reference? {
        let span = (day - Baseline2.searchedDays + 1)...day
        let masks = memory.excluded.isEmpty ? [] : span.map(memory.mask)
        let accepted = acceptances.lastIndex { $0.isInForce(at: minute) }
        let key = CacheKey(day: day, masks: masks, trainingFrom: memory.trainingFrom, acceptance: accepted)
        if let reference = known[key] { return reference }
        let level = accepted.map { AcceptedBaseline(acceptances[$0], index: $0) }
        var training: [TrainingDay] = []
        var newest = day
        for candidate in span.reversed() where candidate >= memory.trainingFrom ?? candidate {
            let mask = masks.isEmpty ? 0 : masks[Int(candidate - span.lowerBound)]
            guard let counts = trainingDay(candidate, mask, level) else { continue }
            if newest - candidate > Baseline2.longestGap { break }
            training.append(counts)
            newest = candidate
        }
        let reference = Baseline2Training(condition: condition, keys: strata.map(\.key), days: training, level: level).reference()
        known[key] = .some(reference)
        return reference
    }

    /// All attempts of a day, those of excluded hours too.
    func counts(day: Int64) -> AttemptCounts {
        days.reduce(AttemptCounts()) { $0 + ($1[day]?.counts ?? AttemptCounts()) }
    }

    /// Nil when too few of the day's attempts are outside of alerts.
    private func trainingDay(_ day: Int64, _ mask: UInt32, _ level: AcceptedBaseline?) -> TrainingDay? {
        var hours = [Int64](repeating: 0, count: 24)
        let counts = days.enumerated().map { index, days -> TrainingCounts in
            guard let own = days[day] else { return TrainingCounts() }
            var sum = AttemptCounts()
            for (hour, counts) in own.hours.enumerated() where mask & 1 << UInt32(hour) == 0 {
                sum = sum + counts
                hours[hour] += counts.attempts
            }
            let accepted = level.flatMap { day <= $0.from.day ? $0[strata[index].key] : nil }
            return TrainingCounts(sum, accepted: accepted)
        }
        let total = counts.reduce(TrainingCounts(), +)
        guard total.attempts >= Baseline2.dayAttempts else { return nil }
        return TrainingDay(day: day, strata: counts, total: total, busiestHour: hours.max() ?? 0)
    }
}
