import Crypto

/// Derives a rule's version from everything that decides about it, effective defaults included.
enum RuleVersion {
    /// Twelve hex digits. A renamed rule is another rule; new words in annotations or labels are the same rule.
    static func of(name: String, condition: RuleCondition, by: [Dimension]) -> String {
        let by = by.map(\.rawValue).sorted().joined(separator: ",")
        let lines = ["name=\(name)", "definition=\(condition.definition)", "by=\(by)"] + settings(of: condition)
        let digest = SHA256.hash(data: Array(lines.joined(separator: "\n").utf8))
        return digest.prefix(6).map { byte in
            let hex = String(byte, radix: 16)
            return hex.count == 1 ? "0" + hex : hex
        }.joined()
    }

    private static func settings(of condition: RuleCondition) -> [String] {
        let filter = condition.of.allowed.sorted { $0.key < $1.key }
            .map { "of.\($0.key.rawValue)=\($0.value.joined(separator: ","))" }
        let shared = ["reason=\(condition.reasons.joined(separator: ","))", "above=\(text(condition.threshold))"] + filter
        switch condition {
        case .ratio(let ratio): return shared + settings(of: ratio)
        case .baseline(let baseline): return shared + settings(of: baseline)
        case .absence(let absence): return shared + settings(of: absence)
        case .backlog(let backlog):
            return shared + [
                "for=\(backlog.duration.minutes)", "grows_by=\(text(backlog.growsBy))", "resolve_after=\(backlog.resolveAfter.minutes)",
            ]
        case .firstSight(let sight):
            return shared + [
                "not_seen_for=\(sight.notSeenFor.minutes)", "ignore=\(sight.ignore.sorted().joined(separator: ","))",
                "learn=\(sight.learn.minutes)", "resolve_after=\(sight.resolveAfter.minutes)",
            ]
        case .reregistration(let reregistration): return shared + settings(of: reregistration)
        }
    }

    private static func settings(of ratio: RatioCondition) -> [String] {
        [
            "for=\(ratio.duration.minutes)", "smooth=\(ratio.smooth.minutes)", "quorum=\(text(ratio.quorum))",
            "min_bad=\(ratio.minBad)", "min_bad_smooth=\(ratio.minBadSmooth)",
            "guard=\(ratio.guardConfidence?.rawValue ?? "off")", "guard_at=\(text(ratio.guardAt))",
            "resolve_after=\(ratio.resolveAfter.minutes)", "resolve_at=\(text(ratio.resolveAt))",
            "min_n_clear=\(ratio.minAttemptsToClear)", "resolve_within=\(ratio.resolveWithin.minutes)",
        ] + (ratio.statuses.isEmpty ? [] : ["status=\(ratio.statuses.joined(separator: ","))"])
            + (ratio.minBlocked.map { ["min_blocked=\($0)"] } ?? [])
    }

    private static func settings(of absence: AbsenceCondition) -> [String] {
        [
            "for=\(absence.duration.minutes)", "min_attempts=\(absence.minAttempts)", "resolve_after=\(absence.resolveAfter.minutes)",
            "min_successes=\(absence.minSuccesses)", "resolve_within=\(absence.resolveWithin.minutes)",
        ]
    }

    private static func settings(of reregistration: ReregistrationCondition) -> [String] {
        [
            "window=\(reregistration.window.minutes)", "min_devices=\(reregistration.minDevices)", "reference=\(reregistration.reference.minutes)",
            "min_devices_per_day=\(reregistration.minDevicesPerDay)", "min_days=\(reregistration.minDays)", "alpha=\(text(reregistration.alpha))",
            "resolve_at=\(text(reregistration.resolveAt))", "resolve_after=\(reregistration.resolveAfter.minutes)",
        ]
    }

    private static func settings(of baseline: BaselineCondition) -> [String] {
        [
            "reference=\(baseline.reference.minutes)", "windows=\(baseline.windows.map { String($0.minutes) }.joined(separator: ","))",
            "min_expected=\(text(baseline.minExpected))", "every=\(baseline.every.minutes)", "min_bad=\(baseline.minBad)",
            "alpha=\(text(baseline.alpha))", "overdispersion=\(text(baseline.overdispersion))",
            "strata=\(baseline.strata.map(\.rawValue).sorted().joined(separator: ","))",
            "min_major_share=\(text(baseline.minMajorShare))",
            "min_attempts_per_day=\(baseline.minAttemptsPerDay)", "min_days=\(baseline.minDays)", "shrink=\(baseline.shrink)",
            "floor=\(text(baseline.floor))", "gap=\(baseline.gap.minutes)", "resolve_at=\(text(baseline.resolveAt))",
            "resolve_min_expected=\(text(baseline.resolveMinExpected))", "warn_above=\(baseline.warnAbove.map(text) ?? "off")",
            "warn_min_bad=\(baseline.warnMinBad)",
        ] + (baseline.seasonality.map { ["seasonality=hour_of_week", "zone=\($0.zone)"] } ?? [])
    }

    private static func text(_ fraction: Fraction) -> String { "\(fraction.numerator)/\(fraction.denominator)" }
}
