/// Reads `of:`: which attempts count at all.
struct FilterReader {
    let condition: MappingReader
    private let known: [Dimension]

    init(condition: MappingReader, known: [Dimension] = Dimension.common) {
        self.condition = condition
        self.known = known
    }

    /// Without `of`, every `send` counts; an `of` without `eventType` counts sends too.
    func filter() -> AttemptFilter {
        guard condition.has("of"), let reader = condition.mapping("of", known: known.map(\.rawValue)) else {
            return AttemptFilter()
        }
        var allowed: [Dimension: [String]] = [.eventType: ["send"]]
        for dimension in known where reader.has(dimension.rawValue) {
            allowed[dimension] = values(of: dimension, reader)
        }
        checkCombination(allowed, reader)
        return AttemptFilter(allowed)
    }

    /// For minutes that are kept by some dimensions only; `why` is the explanation in the error.
    func filter(among known: [Dimension], _ why: String) -> AttemptFilter {
        guard condition.has("of") else { return AttemptFilter([:]) }
        var filter = filter()
        let events = filter.allowed.removeValue(forKey: .eventType)
        if events != ["send"] || filter.allowed.keys.contains(where: { !known.contains($0) }) { condition.error("of", why) }
        return filter
    }

    private func values(of dimension: Dimension, _ reader: MappingReader) -> [String] {
        reader.texts(dimension.rawValue).compactMap { text, position in
            guard let known = dimension.allowedValues, !known.contains(text) else { return text }
            let message = "'\(text)' never occurs; possible: \(known.joined(separator: ", "))"
            reader.findings.error(at: position, key: reader.name(dimension.rawValue), message)
            return nil
        }
    }

    /// By the contract, APNs is iOS only and web is FCM only: a filter with another combination matches nothing.
    private func checkCombination(_ allowed: [Dimension: [String]], _ reader: MappingReader) {
        guard let providers = allowed[.provider], let platforms = allowed[.platform] else { return }
        let possible = providers.contains { provider in
            platforms.contains { provider == "apns" ? $0 == "ios" : true }
        }
        if !possible { reader.error("platform", "no attempt has this platform with this provider; the rule can never fire") }
    }
}

extension Dimension {
    /// Why a dimension is not available to a condition, for the error.
    fileprivate var whyUnknown: String? {
        switch self {
        case .appVersion: "only 'ratio' counts by exact versions; "
        case .providerErrorCode:
            "an attempt that succeeds has no code, so a code has no share of its own: give the codes that count as bad "
                + "to 'code' of 'ratio' (one rule for each code is one alert for each), or use 'first_sight' for codes that are new; "
        case .feed: "only 'feed_silent' looks at score feeds; "
        default: nil
        }
    }
}

/// Reads lists of dimensions.
enum DimensionReader {
    static func by(_ rule: MappingReader, known: [Dimension] = Dimension.common) -> [Dimension] {
        rule.has("by") ? dimensions(rule, "by", known: known) : []
    }

    static func dimensions(_ reader: MappingReader, _ key: String, known: [Dimension] = Dimension.common) -> [Dimension] {
        if reader.isEmptyList(key) { return [] }
        var result: [Dimension] = []
        // The event type is filtered, never grouped.
        let groupable = known.filter { $0 != .eventType }
        let known = groupable.map(\.rawValue)
        for (text, position) in reader.texts(key) {
            guard let dimension = groupable.first(where: { $0.rawValue == text }) else {
                let near = Nearest.name(to: text, among: known).map { "did you mean '\($0)'? " } ?? ""
                let dimension = text == "code" ? .providerErrorCode : Dimension(rawValue: text)
                let hint = dimension?.whyUnknown ?? near
                let message = "unknown dimension '\(text)'; \(hint)known: \(known.joined(separator: ", "))"
                reader.findings.error(at: position, key: reader.name(key), message)
                continue
            }
            if result.contains(dimension) {
                reader.findings.error(at: position, key: reader.name(key), "'\(text)' is listed twice")
            } else {
                result.append(dimension)
            }
        }
        return result
    }
}
