/// Reads `feed_silent:` with its `for:`.
struct FeedSilentReader {
    static let keys = ["followers_above", "resolve_after"]

    let rule: MappingReader

    func condition() -> FeedSilentCondition? {
        guard let silent = rule.mapping("feed_silent", known: Self.keys, mayBeEmpty: true) else { return nil }
        guard rule.has("for") else {
            rule.missing("for", "say for how long the feed must have confirmed nothing, such as 5m")
            return nil
        }
        guard let duration = rule.duration("for", in: 2...1440) else { return nil }
        var condition = FeedSilentCondition(for: duration)
        if let count = silent.count("followers_above", in: 0...1_000_000_000) { condition.above = count }
        if let duration = silent.duration("resolve_after", in: 1...60) { condition.resolveAfter = duration }
        return condition
    }
}
