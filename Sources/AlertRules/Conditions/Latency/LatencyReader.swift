import PushContract

/// Reads `latency:` with its `for:`.
struct LatencyReader {
    static let keys = ["p", "above", "of", "min_attempts"]
    static let dimensions: [Dimension] = [.provider, .app]
    static let why = "latencies are counted by provider and app"

    let rule: MappingReader

    func condition() -> LatencyCondition? {
        guard let latency = rule.mapping("latency", known: Self.keys) else { return nil }
        for (key, why) in [("p", "give the percentile, such as 95"), ("above", "give the limit above which it fires, such as 2s")]
        where !latency.has(key) { latency.missing(key, why) }
        guard rule.has("for") else {
            rule.missing("for", "say for how long the percentile must be above, such as 10m")
            return nil
        }
        let percentile = latency.number("p", in: Fraction(50, 1)...Fraction(999, 10))
        let minAttempts = latency.count("min_attempts", in: 1...1_000_000_000) ?? 100
        let of = FilterReader(condition: latency).filter(among: Self.dimensions, Self.why)
        guard let percentile, let aboveMs = limit(latency), let duration = rule.duration("for", in: 2...1440) else { return nil }
        return LatencyCondition(percentile: percentile, aboveMs: aboveMs, for: duration, of: of, minAttempts: minAttempts)
    }

    /// Only what the buckets separate can be compared with.
    private func limit(_ latency: MappingReader) -> Int32? {
        guard let limit = latency.value("above", "a latency such as 500ms or 2s", Self.milliseconds) else { return nil }
        let bounds = LatencyBuckets.bounds.dropLast()
        if bounds.contains(limit) { return limit }
        let nearest = [bounds.last { $0 < limit }, bounds.first { $0 > limit }].compactMap { $0.map(Self.text) }
        latency.error("above", "latencies are not counted apart at \(Self.text(limit)); use \(nearest.joined(separator: " or "))")
        return nil
    }

    static func milliseconds(_ text: String) -> Int32? {
        guard let unit = [("ms", 1), ("s", 1000)].first(where: { text.hasSuffix($0.0) }) else { return nil }
        guard let number = Fraction(decimal: String(text.dropLast(unit.0.count))), case let ms = number * Fraction(Int64(unit.1), 1),
            ms.denominator == 1
        else { return nil }
        return Int32(exactly: ms.numerator)
    }

    /// `500ms`, `2s`
    static func text(_ milliseconds: Int32) -> String {
        milliseconds < 1000 ? "\(milliseconds)ms" : Fraction.rounded(Double(milliseconds) / 1000) + "s"
    }
}
