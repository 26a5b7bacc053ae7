/// Reads `burn_rate:`.
struct BurnRateReader {
    static let keys = ["reason", "of", "objective", "rate", "long", "short", "min_attempts", "min_bad"]

    let rule: MappingReader

    func condition() -> BurnRateCondition? {
        if rule.has("for") { rule.error("for", "a burn rate has the windows 'long' and 'short', and no 'for'") }
        guard let burn = rule.mapping("burn_rate", known: Self.keys) else { return nil }
        for (key, why) in [
            ("objective", "give the share of attempts that must not fail, such as 99.5%"),
            ("rate", "give the burn rate above which it fires, such as 14.4"), ("long", "give the window that proves it, such as 1h"),
        ] where !burn.has(key) { burn.missing(key, why) }
        let reasons = burn.reasons()
        guard let objective = burn.share("objective", in: Fraction(1, 2)...Fraction(9999, 10_000)),
            let rate = burn.number("rate", in: Fraction(1, 10)...Fraction(1000, 1)), let long = burn.duration("long", in: 10...(7 * 1440))
        else { return nil }
        let short = burn.has("short") ? burn.duration("short", in: 1...1440) : RuleDuration(minutes: max(1, long.minutes / 12))
        guard let short else { return nil }
        if short.minutes * 2 > long.minutes { burn.error("short", "\(short) is more than half of 'long' (\(long))") }
        guard var condition = BurnRateCondition(reasons: reasons, objective: objective, rate: rate, long: long, short: short) else {
            burn.error("rate", "it can never fire: more than all attempts would have to fail, or it has too many decimals")
            return nil
        }
        condition.of = FilterReader(condition: burn).filter()
        if let count = burn.count("min_attempts", in: 1...1_000_000_000) { condition.minAttempts = count }
        if let count = burn.count("min_bad", in: 1...1_000_000_000) { condition.minBad = count }
        return condition
    }
}
