/// Reads `absence:` with its `for:`.
struct AbsenceReader {
    static let keys = ["of", "min_attempts", "resolve_after", "min_successes", "resolve_within"]

    let rule: MappingReader

    func condition() -> AbsenceCondition? {
        guard let absence = rule.mapping("absence", known: Self.keys, mayBeEmpty: true) else { return nil }
        guard rule.has("for") else {
            rule.missing("for", "say how long nothing must have succeeded, such as 10m")
            return nil
        }
        guard let duration = rule.duration("for", in: 2...1440) else { return nil }
        var condition = AbsenceCondition(for: duration)
        condition.of = FilterReader(condition: absence).filter()
        if let count = absence.count("min_attempts", in: 1...1_000_000_000) { condition.minAttempts = count }
        if let count = absence.count("min_successes", in: 1...1_000_000_000) { condition.minSuccesses = count }
        if let duration = absence.duration("resolve_after", in: 1...1440) { condition.resolveAfter = duration }
        if let duration = absence.duration("resolve_within", in: 1...1440) { condition.resolveWithin = duration }
        if condition.resolveWithin < condition.resolveAfter {
            absence.error("resolve_within", "\(condition.resolveWithin) is shorter than 'resolve_after' (\(condition.resolveAfter))")
        }
        return condition
    }
}
