/// Reads `queue_age:` with its `for:`.
struct QueueAgeReader {
    static let keys = ["of", "above", "resolve_after"]

    let rule: MappingReader

    func condition() -> QueueAgeCondition? {
        guard let age = rule.mapping("queue_age", known: Self.keys) else { return nil }
        guard rule.has("for") else {
            rule.missing("for", "say for how long the oldest due delivery must have been too old, such as 5m")
            return nil
        }
        guard age.has("above") else {
            age.missing("above", "give the age above which it fires, such as 2m")
            return nil
        }
        guard let duration = rule.duration("for", in: 2...1440), let above = age.duration("above", in: 1...1440) else { return nil }
        var condition = QueueAgeCondition(above: above, for: duration)
        condition.of = FilterReader(condition: age).filter(among: [.provider], "the queue is sampled by provider")
        if let duration = age.duration("resolve_after", in: 2...1440) { condition.resolveAfter = duration }
        return condition
    }
}
