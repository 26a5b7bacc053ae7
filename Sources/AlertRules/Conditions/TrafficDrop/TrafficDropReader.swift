/// Reads `traffic_drop:` with its `for:`.
struct TrafficDropReader {
    static let keys = ["of", "below", "weeks", "min_usual", "resolve_at", "resolve_after"]

    let rule: MappingReader

    func condition() -> TrafficDropCondition? {
        guard let drop = rule.mapping("traffic_drop", known: Self.keys) else { return nil }
        guard rule.has("for") else {
            rule.missing("for", "say within which time attempts are counted, such as 15m")
            return nil
        }
        guard drop.has("below") else {
            drop.missing("below", "give the part of the usual attempts below which it fires, such as 30%; 1% for none at all")
            return nil
        }
        guard let duration = rule.duration("for", in: 5...1440), let below = drop.share("below", in: Fraction(1, 100)...Fraction(9, 10))
        else { return nil }
        var condition = TrafficDropCondition(below: below, for: duration)
        condition.of = FilterReader(condition: drop).filter()
        if let count = drop.count("weeks", in: 1...8) { condition.weeks = Int(min(max(count, 1), 8)) }
        if let count = drop.count("min_usual", in: 20...1_000_000_000) { condition.minUsual = count }
        if let share = drop.share("resolve_at", in: below...Fraction(1, 1)) { condition.resolveAt = share }
        if let duration = drop.duration("resolve_after", in: 5...1440) { condition.resolveAfter = duration }
        return condition
    }
}
