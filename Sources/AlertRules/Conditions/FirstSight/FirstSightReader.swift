/// Reads `first_sight:`.
struct FirstSightReader {
    static let keys = ["of", "not_seen_for", "ignore", "learn", "resolve_after"]

    let rule: MappingReader

    func groups() -> [Dimension] {
        if rule.has("by") { rule.error("by", "a first sight is always by provider and code; leave 'by' out") }
        return FirstSightCondition.by
    }

    func condition() -> FirstSightCondition? {
        if rule.has("for") { rule.error("for", "a first sight has no 'for': one is enough") }
        guard let sight = rule.mapping("first_sight", known: Self.keys, mayBeEmpty: true) else { return nil }
        var condition = FirstSightCondition()
        if sight.has("of") {
            condition.of = FilterReader(condition: sight).filter()
            let known: [Dimension] = [.provider, .eventType]
            if condition.of.allowed.keys.contains(where: { !known.contains($0) }) { sight.error("of", "codes are kept by provider") }
        }
        if let duration = sight.duration("not_seen_for", in: 1440...(90 * 1440)) {
            condition.notSeenFor = duration
            if !duration.minutes.isMultiple(of: 1440) { sight.error("not_seen_for", "\(duration) is not whole days") }
        }
        if sight.has("ignore") { condition.ignore = sight.texts("ignore").map(\.text) }
        if let duration = sight.duration("learn", in: 1...(90 * 1440)) { condition.learn = duration }
        if let duration = sight.duration("resolve_after", in: 1...(14 * 1440)) { condition.resolveAfter = duration }
        return condition
    }
}
