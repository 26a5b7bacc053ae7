/// Reads `ratio:` with its `for:`.
struct RatioReader {
    static let keys = [
        "version", "reason", "status", "code", "above", "of", "smooth", "quorum", "min_bad", "min_bad_smooth", "guard", "guard_at",
        "resolve_after", "resolve_at", "min_n_clear", "resolve_within", "reopen_within", "min_blocked",
    ]
    static let dimensions = Dimension.common + [.appVersion]
    private static let tiny = Fraction(1, 1_000_000)
    private static let all = Fraction(1, 1)

    let rule: MappingReader

    func condition() -> RatioCondition? {
        guard let ratio = rule.mapping("ratio", known: Self.keys) else { return nil }
        let codes = codes(ratio)
        let reasons = codes.isEmpty || ratio.has("reason") ? ratio.reasons() : Reasons.all
        let above = above(ratio)
        let duration = duration()
        let of = FilterReader(condition: ratio, known: Self.dimensions).filter()
        let version = ratio.count("version", in: 1...2).flatMap(RatioCondition.Version.init) ?? .two
        guard let above, let duration, !reasons.isEmpty else { return nil }
        var condition = RatioCondition(reasons: reasons, above: above, for: duration, version: version)
        condition.of = of
        condition.statuses = statuses(ratio)
        condition.codes = codes
        readEvidence(ratio, &condition)
        readResolve(ratio, &condition)
        if let count = ratio.count("min_blocked", in: 1...1_000_000_000) { condition.minBlocked = count }
        check(ratio, condition)
        return condition
    }

    private func duration() -> RuleDuration? {
        guard rule.has("for") else {
            rule.missing("for", "say how long the share must stay above, such as 15m")
            return nil
        }
        guard let duration = rule.duration("for") else { return nil }
        guard (2...1440).contains(duration.minutes) else {
            rule.error("for", "\(duration) is impossible here: it must be from 2m to 1d")
            return nil
        }
        return duration
    }

    /// Only what ended so is bad.
    private func statuses(_ ratio: MappingReader) -> [String] {
        ratio.has("status")
            ? ratio.texts("status").compactMap { text, position in
                if ["failed", "deactivated"].contains(text) { return text }
                ratio.findings.error(at: position, key: ratio.name("status"), "'\(text)' is never bad; known: failed, deactivated")
                return nil
            }.sorted() : []
    }

    /// Only what failed with such a code of the provider is bad.
    private func codes(_ ratio: MappingReader) -> [String] {
        guard ratio.has("code") else { return [] }
        let codes = ratio.texts("code").map(\.0)
        if codes.contains("") { ratio.error("code", "a code is a text such as TopicDisallowed") }
        return Set(codes).sorted()
    }

    private func above(_ ratio: MappingReader) -> Fraction? {
        guard ratio.has("above") else {
            ratio.missing("above", "give the threshold, such as 5%")
            return nil
        }
        guard let above = ratio.value("above", "a share such as 5%", { Fraction(share: $0) }) else { return nil }
        guard above >= Self.tiny, above < Self.all else {
            ratio.error("above", "\(above.percent) can never fire as meant: the threshold must be above 0 % and below 100 %")
            return nil
        }
        return above
    }

    private func readEvidence(_ ratio: MappingReader, _ condition: inout RatioCondition) {
        if let smooth = ratio.duration("smooth") { condition.smooth = smooth }
        if let quorum = ratio.share("quorum", in: Fraction(1, 2)...Self.all) { condition.quorum = quorum }
        if let count = ratio.count("min_bad", in: 1...1_000_000_000) { condition.minBad = count }
        if let count = ratio.count("min_bad_smooth", in: 1...1_000_000_000) { condition.minBadSmooth = count }
        if let share = ratio.share("guard_at", in: Fraction(0, 1)...Self.all) { condition.guardAt = share }
        guard let text = ratio.text("guard") else { return }
        let bound = WilsonBound(rawValue: text.filter { $0 != " " })
        // YAML reads a bare `off` as false in some tools; both spellings are taken.
        if bound == nil, !["off", "false"].contains(text) {
            let known = WilsonBound.allCases.map(\.rawValue).joined(separator: ", ")
            ratio.error("guard", "'\(text)' is not a confidence; known: \(known), off")
        }
        condition.guardConfidence = bound
    }

    private func readResolve(_ ratio: MappingReader, _ condition: inout RatioCondition) {
        if let duration = ratio.duration("resolve_after") { condition.resolveAfter = duration }
        if ratio.has("resolve_after") {
            let longest = condition.version == .one ? condition.resolveAfter.minutes : min(1440, 12 * condition.resolveAfter.minutes)
            condition.resolveWithin = RuleDuration(minutes: longest)
        }
        if ratio.isText("reopen_within", "off") {
            condition.reopenWithin = RuleDuration(minutes: 0)
        } else if let duration = ratio.duration("reopen_within", in: 1...1440) {
            condition.reopenWithin = duration
        }
        if let duration = ratio.duration("resolve_within") { condition.resolveWithin = duration }
        if let share = ratio.share("resolve_at", in: Fraction(0, 1)...Self.all) { condition.resolveAt = share }
        if let count = ratio.count("min_n_clear", in: 1...1_000_000_000) { condition.minAttemptsToClear = count }
    }

    private func check(_ ratio: MappingReader, _ condition: RatioCondition) {
        if condition.smooth > condition.duration {
            ratio.error("smooth", "\(condition.smooth) is longer than 'for' (\(condition.duration))")
        }
        if condition.resolveAt > condition.above {
            ratio.error("resolve_at", "\(condition.resolveAt.percent) is more than 'above' (\(condition.above.percent))")
        }
        if condition.guardAt > condition.above {
            ratio.error("guard_at", "\(condition.guardAt.percent) is more than 'above' (\(condition.above.percent))")
        }
        if !(2...1440).contains(condition.resolveAfter.minutes) {
            ratio.error("resolve_after", "\(condition.resolveAfter) is impossible here: it must be from 2m to 1d")
        }
        if condition.resolveWithin < condition.resolveAfter || condition.resolveWithin.minutes > 1440 {
            ratio.error("resolve_within", "\(condition.resolveWithin) must be from 'resolve_after' (\(condition.resolveAfter)) to 1d")
        }
        if condition.version == .one, condition.reopenWithin.minutes > 0 {
            ratio.error("reopen_within", "ratio/1 opens no alert again; remove the key, or 'version: 1'")
        }
        if condition.minBlocked != nil { checkMinBlocked(ratio, condition) }
        if condition.minBadSmooth > condition.minBad {
            ratio.warning(
                "min_bad_smooth",
                "\(condition.minBadSmooth) is more than 'min_bad' (\(condition.minBad)), which then does nothing"
            )
        }
    }

    /// Of an open circuit provider, app and environment are known, and that it is about sends.
    private func checkMinBlocked(_ ratio: MappingReader, _ condition: RatioCondition) {
        let known: Set<Dimension> = [.eventType, .provider, .app, .environment]
        let by = DimensionReader.by(rule, known: Self.dimensions)
        let unknown = Set(condition.of.allowed.keys).union(by).subtracting(known).sorted()
        if let dimension = unknown.first {
            ratio.error(
                "min_blocked",
                "an open circuit has no \(dimension.rawValue): use provider, app and environment in 'by' and 'of'"
            )
        }
        if !condition.codes.isEmpty { ratio.error("min_blocked", "what a circuit blocks has no code: remove 'code' or 'min_blocked'") }
        if !condition.reasons.contains(where: OpenCircuit.reasons.contains) {
            ratio.error(
                "min_blocked",
                "what a circuit blocks would fail as \(OpenCircuit.reasons.joined(separator: ", ")); none of them is among the reasons"
            )
        }
    }
}
