extension BaselineCondition: Condition {
    var definition: String { "baseline/\(version.rawValue)" }

    var source: SeriesSource { .attempts }
    var threshold: Fraction { above }
    var level: Evidence.Level { .reference }
    var decidesEvery: Int { version == .one ? every.minutes : Baseline2.slot }
    var lookback: Int { version == .one ? longestWindow.minutes : Baseline2.rungs[Baseline2.rungs.count - 1].minutes }

    /// In the learning period, the share is compared with a fixed one.
    func threshold(at level: Evidence.Level) -> Fraction {
        switch level {
        case .learning: warnAbove ?? above
        case .newNormal: Baseline2.newNormal
        default: above
        }
    }

    /// Days before a minute on which the decision about it may depend.
    package var knownDays: Int { version == .one ? referenceDays + (longestWindow.minutes + gap.minutes) / 1440 + 1 : Baseline2.knownDays }

    /// Days that are folded before the first minute of interest: alerts of that time exclude their hours from training, and may still be
    /// open.
    package var warmUpDays: Int { version == .one ? 3 : Int(Baseline2.searchedDays) }

    func summary(_ words: (RuleDuration) -> String) -> String {
        "\(reasons.joined(separator: ", ")) above \(above.multiple) of its baseline"
    }

    var versionSettings: [String] {
        let shared = [
            "strata=\(strata.map(\.rawValue).sorted().joined(separator: ","))", "min_share=\(minShare.versionText)", "min_bad=\(minBad)",
            "alpha=\(alpha.versionText)", "warn_above=\(warnAbove.map(\.versionText) ?? "off")", "warn_min_bad=\(warnMinBad)",
        ]
        guard version == .one else { return shared }
        return shared + [
            "reference=\(reference.minutes)", "windows=\(windows.map { String($0.minutes) }.joined(separator: ","))",
            "min_expected=\(minExpected.versionText)", "every=\(every.minutes)", "overdispersion=\(overdispersion.versionText)",
            "min_major_share=\(minMajorShare.versionText)", "min_attempts_per_day=\(minAttemptsPerDay)", "min_days=\(minDays)",
            "shrink=\(shrink)", "gap=\(gap.minutes)", "resolve_at=\(resolveAt.versionText)",
            "resolve_min_expected=\(resolveMinExpected.versionText)",
        ]
    }

    func decision(_ history: GroupHistory, from first: Minute, through last: Minute) -> any Decision {
        switch version {
        case .one: Baseline1Decision(self, history: history)
        case .two: Baseline2Decision(self, history: history)
        }
    }
}

extension ConditionKind {
    static let baseline = ConditionKind(key: "baseline") { BaselineReader(rule: $0).condition() }
}

extension RuleCondition {
    package static func baseline(_ condition: BaselineCondition) -> RuleCondition { RuleCondition(condition) }

    package var baseline: BaselineCondition? { base as? BaselineCondition }
}
