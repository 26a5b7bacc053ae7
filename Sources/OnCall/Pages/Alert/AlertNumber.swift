import AlertRules
import Alerting
import PushContract

/// One line of an alert's evidence.
struct AlertNumber {
    let name: String
    let value: String

    static func list(_ alert: Alert, now: Timestamp) -> [AlertNumber] {
        let evidence = alert.evidence
        var list: [AlertNumber] = []
        if !alert.isBuiltIn {
            list += [
                AlertNumber(name: "Observed", value: "\(evidence.observedText), \(AlertWords.counts(evidence.observed, evidence.level))"),
                AlertNumber(name: "Window", value: window(evidence.observed, now: now)),
                AlertNumber(name: "Threshold", value: evidence.thresholdPhrase),
            ]
        }
        if let expected = evidence.expectedText { list.append(AlertNumber(name: "Expected", value: expected)) }
        if let circuits = evidence.openCircuitsText { list.append(AlertNumber(name: "Open circuits", value: circuits)) }
        if evidence.worst != evidence.observed {
            list.append(
                AlertNumber(
                    name: "Worst",
                    value: [
                        evidence.worstText, AlertWords.counts(evidence.worst, evidence.level), window(evidence.worst, now: now),
                    ].joined(separator: ", ")
                )
            )
        }
        if let affected = alert.affected { list.append(AlertNumber(name: "Affected", value: "devices: \(affected.text) since it began")) }
        list.append(AlertNumber(name: "Began", value: ClockText.moment(alert.startsAt, now: now)))
        list.append(AlertNumber(name: "Fired", value: ClockText.moment(alert.firedAt, now: now)))
        if let resolved = alert.resolvedAt {
            list.append(AlertNumber(name: "Resolved", value: ClockText.moment(resolved, now: now) + reason(alert.resolvedReason)))
        }
        if let backlog = alert.backlog { list.append(AlertNumber(name: "Backlog then", value: words(backlog))) }
        list.append(AlertNumber(name: "Rule", value: "\(alert.rule), \(evidence.definition), version \(alert.ruleVersion.prefix(12))"))
        return list
    }

    private static func window(_ window: WindowCounts, now: Timestamp) -> String {
        let from = Timestamp(seconds: window.first.second)
        let to = Timestamp(seconds: (window.last + 1).second)
        return ClockText.span(from, to: to, now: now)
    }

    private static func reason(_ reason: String?) -> String { reason.map { " (\($0.replacing("_", with: " ")))" } ?? "" }

    private static func words(_ backlog: BacklogNumbers) -> String {
        let oldest = backlog.oldestSeconds.map { ", the oldest for \(DurationText.span(.seconds($0)))" } ?? ""
        return "\(NumberText.count(backlog.waiting)) waiting\(oldest)"
    }
}
