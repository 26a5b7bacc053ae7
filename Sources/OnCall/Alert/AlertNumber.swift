import AlertRules
import Alerting
import PushContract

/// One line of an alert's evidence.
struct AlertNumber {
    let name: String
    let value: String

    static func list(_ episode: AlertEpisode, now: Timestamp) -> [AlertNumber] {
        let evidence = episode.evidence
        var list = [
            AlertNumber(name: "Observed", value: "\(evidence.observedText), \(AlertWords.counts(evidence.observed))"),
            AlertNumber(name: "Window", value: window(evidence.observed, now: now)),
            AlertNumber(name: "Threshold", value: threshold(evidence)),
        ]
        if let expected = evidence.expected {
            list.append(AlertNumber(name: "Expected", value: "\(Fraction.rounded(expected)) bad attempts in that window"))
        }
        if let held = evidence.heldText { list.append(AlertNumber(name: "Held", value: held)) }
        if evidence.worst != evidence.observed {
            list.append(
                AlertNumber(
                    name: "Worst",
                    value: "\(evidence.worstText), \(AlertWords.counts(evidence.worst)), \(window(evidence.worst, now: now))"
                )
            )
        }
        if let affected = episode.affected { list.append(AlertNumber(name: "Affected", value: "devices: \(affected.text) since it began")) }
        list.append(AlertNumber(name: "Began", value: ClockText.moment(episode.startsAt, now: now)))
        list.append(AlertNumber(name: "Fired", value: ClockText.moment(episode.firedAt, now: now)))
        if let resolved = episode.resolvedAt {
            list.append(AlertNumber(name: "Resolved", value: ClockText.moment(resolved, now: now) + reason(episode.resolvedReason)))
        }
        if let backlog = episode.backlog { list.append(AlertNumber(name: "Backlog then", value: words(backlog))) }
        list.append(AlertNumber(name: "Rule", value: "\(episode.rule), \(evidence.definition), version \(episode.ruleVersion.prefix(12))"))
        return list
    }

    private static func threshold(_ evidence: Evidence) -> String {
        switch evidence.level {
        case .threshold: "above \(evidence.thresholdText)"
        case .held: "above \(evidence.thresholdText), or a credential refused throughout"
        case .learning: "above \(evidence.thresholdText), fixed: the baseline is still learning"
        case .reference: "above \(evidence.thresholdText) what the last days let expect"
        case .growth: "above \(evidence.thresholdText), and growing"
        case .absence, .firstSight: evidence.thresholdText
        case .returning: "below \(evidence.thresholdText)"
        }
    }

    private static func window(_ window: WindowCounts, now: Timestamp) -> String {
        let from = Timestamp(seconds: window.first.second)
        let to = Timestamp(seconds: (window.last + 1).second)
        return ClockText.span(from, to: to, now: now)
    }

    private static func reason(_ reason: String?) -> String { reason.map { " (\($0.replacing("_", with: " ")))" } ?? "" }

    private static func words(_ backlog: BacklogNumbers) -> String {
        let oldest = backlog.oldestSeconds.map { ", the oldest for \(SpanText.span(.seconds($0)))" } ?? ""
        return "\(NumberText.count(backlog.waiting)) waiting\(oldest)"
    }
}
