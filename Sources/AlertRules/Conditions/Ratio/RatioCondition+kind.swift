extension RatioCondition: Condition {
    var definition: String { "ratio/\(version.rawValue)" }

    var source: SeriesSource { .attempts }
    var threshold: Fraction { above }
    var level: Evidence.Level { .threshold }
    var lookback: Int { max(duration.minutes + 2 * smooth.minutes, resolveWithin.minutes) }
    var scenarioShare: Double? { above.double }
    var leastBad: Int64 { minBlocked == nil ? minBad : 0 }

    func summary(_ words: (RuleDuration) -> String) -> String {
        "\((codes.isEmpty ? reasons : codes).joined(separator: ", ")) above \(above.percent) for \(words(duration))"
    }

    var versionSettings: [String] {
        [
            "for=\(duration.minutes)", "smooth=\(smooth.minutes)", "quorum=\(quorum.versionText)",
            "min_bad=\(minBad)", "min_bad_smooth=\(minBadSmooth)",
            "guard=\(guardConfidence?.rawValue ?? "off")", "guard_at=\(guardAt.versionText)",
            "resolve_after=\(resolveAfter.minutes)", "resolve_at=\(resolveAt.versionText)",
            "min_n_clear=\(minAttemptsToClear)", "resolve_within=\(resolveWithin.minutes)",
        ] + (statuses.isEmpty ? [] : ["status=\(statuses.joined(separator: ","))"])
            + (codes.isEmpty ? [] : ["code=\(codes.joined(separator: ","))"])
            + (minBlocked.map { ["min_blocked=\($0)"] } ?? [])
            + (version == .one ? [] : ["reopen_within=\(reopenWithin.minutes)"])
    }

    func decision(_ history: GroupHistory, from first: Minute, through last: Minute) -> any Decision {
        RatioDecision(self, series: history.total, circuits: history.circuits, from: first, through: last)
    }
}

extension ConditionKind {
    static let ratio = ConditionKind(key: "ratio", groups: { DimensionReader.by($0, known: RatioReader.dimensions) }) {
        RatioReader(rule: $0).condition()
    }
}

extension RuleCondition {
    package static func ratio(_ condition: RatioCondition) -> RuleCondition { RuleCondition(condition) }

    package var ratio: RatioCondition? { base as? RatioCondition }
}
