/// Reads `baseline:`.
struct BaselineReader {
    static let keys = [
        "version", "reason", "above", "of", "reference", "window", "longer_windows", "min_expected", "every", "min_bad", "alpha",
        "overdispersion",
        "strata",
        "min_major_share",
        "min_attempts_per_day", "min_days", "shrink", "min_share", "gap", "resolve_at", "resolve_min_expected", "warn_above",
        "warn_min_bad",
    ]
    /// What version 2 has no need of.
    private static let keysOfVersion1 = [
        "reference", "window", "longer_windows", "min_expected", "every", "overdispersion", "min_major_share", "min_attempts_per_day",
        "min_days",
        "shrink", "gap", "resolve_at", "resolve_min_expected",
    ]
    private static let counts: ClosedRange<Int64> = 1...1_000_000_000
    private static let tiny = Fraction(1, 1_000_000)
    private static let all = Fraction(1, 1)

    let rule: MappingReader

    func condition() -> BaselineCondition? {
        if rule.has("for") {
            rule.error("for", "a baseline has a 'window' and no 'for'")
        }
        guard let baseline = rule.mapping("baseline", known: Self.keys) else { return nil }
        let reasons = baseline.reasons()
        let of = FilterReader(condition: baseline).filter()
        guard baseline.has("above") else {
            baseline.missing("above", "give the threshold as a multiple of what is expected, such as 3x")
            return nil
        }
        guard let above = baseline.multiple("above", in: Fraction(11, 10)...Fraction(1000, 1)), !reasons.isEmpty else { return nil }
        let version = baseline.count("version", in: 1...2).flatMap(BaselineCondition.Version.init) ?? .two
        if version == .two {
            for key in Self.keysOfVersion1 where baseline.has(key) { baseline.error(key, "is a key of 'version: 1' only") }
        }
        var condition = BaselineCondition(reasons: reasons, above: above, version: version)
        condition.of = of
        if condition.resolveAt > above { condition.resolveAt = above }
        readWindows(baseline, &condition)
        readEvidence(baseline, &condition)
        readShares(baseline, &condition)
        readResolve(baseline, &condition)
        check(baseline, condition)
        return condition
    }

    private func readWindows(_ baseline: MappingReader, _ condition: inout BaselineCondition) {
        if let duration = baseline.duration("reference") { condition.reference = duration }
        if let duration = baseline.duration("window") {
            condition.window = duration
            condition.longerWindows.removeAll { $0 <= duration }
        }
        if let duration = baseline.duration("every") { condition.every = duration }
        if let duration = baseline.duration("gap") { condition.gap = duration }
        guard baseline.has("longer_windows") else { return }
        if baseline.isEmptyList("longer_windows") {
            condition.longerWindows = []
            return
        }
        condition.longerWindows = baseline.texts("longer_windows").compactMap { text, position in
            if let duration = RuleDuration(text) { return duration }
            baseline.findings.error(at: position, key: baseline.name("longer_windows"), "'\(text)' is not a duration such as 6h")
            return nil
        }
    }

    private func readEvidence(_ baseline: MappingReader, _ condition: inout BaselineCondition) {
        if let number = baseline.number("min_expected", in: Self.tiny...Fraction(1_000_000, 1)) { condition.minExpected = number }
        if let count = baseline.count("min_bad", in: Self.counts) { condition.minBad = count }
        if let share = baseline.share("alpha", in: Self.tiny...Fraction(1, 2)) { condition.alpha = share }
        if let number = baseline.number("overdispersion", in: Self.all...Fraction(10, 1)) { condition.overdispersion = number }
    }

    private func readShares(_ baseline: MappingReader, _ condition: inout BaselineCondition) {
        if baseline.has("strata") { condition.strata = DimensionReader.dimensions(baseline, "strata") }
        if let share = baseline.share("min_major_share", in: Self.tiny...Self.all) { condition.minMajorShare = share }
        if let count = baseline.count("min_attempts_per_day", in: Self.counts) { condition.minAttemptsPerDay = count }
        if let count = baseline.count("min_days", in: 1...28) { condition.minDays = Int(count) }
        if let count = baseline.count("shrink", in: 0...1_000_000_000) { condition.shrink = count }
        if let share = baseline.share("min_share", in: Self.tiny...Self.all) { condition.minShare = share }
    }

    private func readResolve(_ baseline: MappingReader, _ condition: inout BaselineCondition) {
        if let multiple = baseline.multiple("resolve_at", in: Self.all...Fraction(1000, 1)) { condition.resolveAt = multiple }
        if let number = baseline.number("resolve_min_expected", in: Self.tiny...Fraction(1_000_000, 1)) {
            condition.resolveMinExpected = number
        }
        if baseline.isText("warn_above", "off") {
            condition.warnAbove = nil
        } else if let share = baseline.share("warn_above", in: Self.tiny...Self.all) {
            condition.warnAbove = share
        }
        if let count = baseline.count("warn_min_bad", in: Self.counts) { condition.warnMinBad = count }
    }

    private func check(_ baseline: MappingReader, _ condition: BaselineCondition) {
        if !condition.reference.minutes.isMultiple(of: 1440) || !(1...28).contains(condition.referenceDays) {
            baseline.error("reference", "\(condition.reference) is impossible here: it must be whole days, from 1d to 28d")
        } else if condition.minDays > condition.referenceDays {
            baseline.error("min_days", "\(condition.minDays) is more than the days of 'reference' (\(condition.referenceDays))")
        }
        if !(5...1440).contains(condition.window.minutes) {
            baseline.error("window", "\(condition.window) is impossible here: it must be from 5m to 1d")
        }
        if zip(condition.windows, condition.longerWindows).contains(where: { $0 >= $1 }) || condition.longestWindow.minutes > 7 * 1440 {
            baseline.error("longer_windows", "each window must be longer than the one before it, and none longer than 7d")
        }
        if !1440.isMultiple(of: condition.every.minutes) || condition.every > condition.window {
            baseline.error("every", "\(condition.every) must divide a day and must not be longer than 'window' (\(condition.window))")
        }
        if condition.resolveAt > condition.above {
            baseline.error("resolve_at", "\(condition.resolveAt.multiple) is more than 'above' (\(condition.above.multiple))")
        }
    }
}
