import AlertRules

/// How much more often a value's attempts fail than all attempts do.
struct Lift {
    /// Standard deviations by which the failures must exceed the number if all traffic failed alike: chance hardly ever exceeds it by as
    /// many.
    private static let confidence = 3.0
    private static let least = 1.2

    /// Share of the failures divided by share of the traffic; nil without attempts or failures.
    let value: Double?
    /// What it is at least, with a confidence of 99 %: as many of the failures are the value's by more than chance.
    let atLeast: Double?
    /// By more than chance, and by so much that it matters.
    let isProven: Bool

    /// - Parameters:
    ///   - own: those of the value.
    ///   - all: those of the group, the value's included.
    init(_ own: AttemptCounts, of all: AttemptCounts) {
        guard own.attempts > 0, all.bad > 0, all.attempts > 0 else {
            (value, atLeast) = (nil, nil)
            isProven = false
            return
        }
        let share = Double(all.bad) / Double(all.attempts)
        let expected = Double(own.attempts) * share
        // As drawing the value's attempts from all of them would vary.
        let variance = expected * (1 - share) * (1 - Double(own.attempts) / Double(all.attempts))
        let lift = Double(own.bad) / expected
        value = lift
        let ownOfBad = AttemptCounts(attempts: all.bad, bad: own.bad)
        atLeast = WilsonBound.percent99.lowerBound(ownOfBad) * Double(all.attempts) / Double(own.attempts)
        // Compared with the others: what has most of the traffic has a lift near 1, however well the rest does.
        let (others, othersBad) = (Double(all.attempts - own.attempts), Double(all.bad - own.bad))
        let isMore = Double(own.bad) * others >= Self.least * othersBad * Double(own.attempts)
        isProven = others > 0 && isMore && Double(own.bad) - expected > Self.confidence * variance.squareRoot()
    }
}
