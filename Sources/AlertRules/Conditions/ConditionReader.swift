/// Reads the condition of a rule: exactly one of its kinds.
struct ConditionReader {
    let rule: MappingReader

    private var given: [ConditionKind] { ConditionKind.all.filter { rule.has($0.key) } }

    func condition() -> RuleCondition? {
        let given = given
        guard let kind = given.first else {
            rule.missing("ratio", "a rule needs a condition: \(ConditionKind.all.map { "'\($0.key)'" }.joined(separator: ", "))")
            return nil
        }
        guard given.count == 1 else {
            let keys = given.map { "'\($0.key)'" }.joined(separator: " and ")
            rule.error(given[1].key, "a rule has one condition; this one has \(keys)")
            return nil
        }
        return kind.read(rule).map { RuleCondition($0) }
    }

    func groups() -> [Dimension] { given.first?.groups(rule) ?? DimensionReader.by(rule) }
}

extension MappingReader {
    /// The dimensions of `by`, of which a condition knows only some.
    func groups(among known: [Dimension], _ why: String) -> [Dimension] {
        let by = DimensionReader.by(self)
        for dimension in by where !known.contains(dimension) { error("by", "'\(dimension.rawValue)' is not known here: \(why)") }
        return by
    }

    /// The reason codes that count as bad.
    func reasons() -> [String] {
        guard has("reason") else {
            missing("reason", "list the reason codes that count as bad: \(Reasons.all.joined(separator: ", "))")
            return []
        }
        var reasons: [String] = []
        for (text, position) in texts("reason") {
            if reasons.contains(text) {
                findings.error(at: position, key: name("reason"), "'\(text)' is listed twice")
            } else if Reasons.all.contains(text) {
                reasons.append(text)
            } else {
                let hint = Nearest.name(to: text, among: Reasons.all).map { "did you mean '\($0)'? " } ?? ""
                let message = "unknown reason code '\(text)'; \(hint)known: \(Reasons.all.joined(separator: ", "))"
                findings.error(at: position, key: name("reason"), message)
            }
        }
        return reasons
    }

    /// A duration within the range that makes sense for it.
    func duration(_ key: String, in range: ClosedRange<Int>) -> RuleDuration? {
        bounded(key, duration(key), in: RuleDuration(minutes: range.lowerBound)...RuleDuration(minutes: range.upperBound)) {
            $0.description
        }
    }

    func duration(_ key: String) -> RuleDuration? {
        value(key, "a duration in whole minutes such as 15m, 2h or 7d") { RuleDuration($0) }
    }

    /// A share such as `5%`, within the range that makes sense for it.
    func share(_ key: String, in range: ClosedRange<Fraction>) -> Fraction? {
        bounded(key, value(key, "a share such as 5% or 0.05") { Fraction(share: $0) }, in: range) { $0.percent }
    }

    func multiple(_ key: String, in range: ClosedRange<Fraction>) -> Fraction? {
        bounded(key, value(key, "a multiple such as 3x") { Fraction(multiple: $0) }, in: range) { $0.multiple }
    }

    func number(_ key: String, in range: ClosedRange<Fraction>) -> Fraction? {
        bounded(key, value(key, "a number") { Fraction(decimal: $0) }, in: range) { Fraction.rounded($0.double) }
    }

    func count(_ key: String, in range: ClosedRange<Int64>) -> Int64? {
        let value = value(key, "a whole number") { text in text.first == "+" ? nil : Int64(text) }
        return bounded(key, value, in: range) { String($0) }
    }

    private func bounded<Value: Comparable>(
        _ key: String,
        _ value: Value?,
        in range: ClosedRange<Value>,
        _ text: (Value) -> String
    ) -> Value? {
        guard let value, !range.contains(value) else { return value }
        error(key, "\(text(value)) is impossible here: it must be from \(text(range.lowerBound)) to \(text(range.upperBound))")
        return nil
    }
}
