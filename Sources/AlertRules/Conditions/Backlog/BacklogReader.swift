/// Reads `backlog:` with its `for:`.
struct BacklogReader {
    static let keys = ["of", "above", "grows_by", "resolve_after"]

    let rule: MappingReader

    func condition() -> BacklogCondition? {
        guard let backlog = rule.mapping("backlog", known: Self.keys) else { return nil }
        guard rule.has("for") else {
            rule.missing("for", "say how long the backlog must have been growing, such as 15m")
            return nil
        }
        guard backlog.has("above") else {
            backlog.missing("above", "say how many sends must wait before it matters, such as 1000")
            return nil
        }
        guard let duration = rule.duration("for", in: 6...1440), let above = backlog.count("above", in: 0...1_000_000_000) else {
            return nil
        }
        var condition = BacklogCondition(above: above, for: duration)
        condition.of = FilterReader(condition: backlog).filter(among: [.provider], "what waits is counted by provider")
        if let share = backlog.share("grows_by", in: Fraction(1, 100)...Fraction(100, 1)) { condition.growsBy = share }
        if let duration = backlog.duration("resolve_after", in: 2...1440) { condition.resolveAfter = duration }
        return condition
    }
}
